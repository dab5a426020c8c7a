// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/onnx_dynamic.py: CRC-32 of results of ONNX Runtime 1.32.0.
#include <stdint.h>

static const uint32_t onnx_dynamic_1_32_x86[] = {
    0x22029EB9u,  // 0 of 256 NaN, 0 added, 1 to 200 elements
    0x6A1972A5u,  // 0 of 256 NaN, 0 added, 37 x 61
    0x3950B9A4u,  // 0 of 256 NaN, 0 added, 300 x 517
    0x956D3251u,  // 2 of 256 NaN, 0 added, 1 to 200 elements
    0x4B8659FEu,  // 2 of 256 NaN, 0 added, 37 x 61
    0x3EEEECACu,  // 2 of 256 NaN, 0 added, 300 x 517
    0x05FA98D2u,  // 40 of 256 NaN, 200 added, 1 to 200 elements
    0x1E03F222u,  // 40 of 256 NaN, 200 added, 37 x 61
    0xB4DC8475u,  // 40 of 256 NaN, 200 added, 300 x 517
    0x6D749800u,  // 128 of 256 NaN, 0 added, 1 to 200 elements
    0x5F036316u,  // 128 of 256 NaN, 0 added, 37 x 61
    0xBA715AC5u,  // 128 of 256 NaN, 0 added, 300 x 517
    0x5E0728ABu,  // 230 of 256 NaN, -200 added, 1 to 200 elements
    0x51A2A17Du,  // 230 of 256 NaN, -200 added, 37 x 61
    0xB2604E15u,  // 230 of 256 NaN, -200 added, 300 x 517
    0xB2E840DEu,  // 255 of 256 NaN, 0 added, 1 to 200 elements
    0x51A2A17Du,  // 255 of 256 NaN, 0 added, 37 x 61
    0xAC914B82u,  // 255 of 256 NaN, 0 added, 300 x 517
};
