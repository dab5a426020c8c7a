// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/onnx_quantize.py: CRC-32 of codes from ONNX Runtime 1.32.0.
#include <stdint.h>

static const uint32_t onnx_quantize_1_32_x86[] = {
    0xD294E3E6u,  // float16, INT8
    0x5C5F69DCu,  // float16, UINT8
    0x0EC165DAu,  // float16, INT16
    0x28F1E1B1u,  // float16, UINT16
    0x1D18E368u,  // float16, INT4
    0xA4FD20B0u,  // float16, UINT4
    0x603F6860u,  // float16, INT2
    0x5689DCA2u,  // float16, UINT2
    0x42555B6Bu,  // float32, INT8, axis None, block 0
    0xB421D59Fu,  // float32, INT8, axis 0, block 0
    0xCDB3087Bu,  // float32, INT8, axis 1, block 0
    0x00793982u,  // float32, INT8, axis 2, block 0
    0x8DE3B411u,  // float32, INT8, axis 2, block 6
    0x806E2E2Cu,  // float32, INT8, axis 1, block 5
    0x33458F2Cu,  // float32, INT8, axis 0, block 4
    0xF8CDC5E0u,  // float32, UINT8, axis None, block 0
    0x7896C9B1u,  // float32, UINT8, axis 0, block 0
    0x9ED0B64Au,  // float32, UINT8, axis 1, block 0
    0x43319136u,  // float32, UINT8, axis 2, block 0
    0x46782CC6u,  // float32, UINT8, axis 2, block 6
    0xE4C640E0u,  // float32, UINT8, axis 1, block 5
    0x9A5B644Eu,  // float32, UINT8, axis 0, block 4
    0x69860F99u,  // float32, INT16, axis None, block 0
    0xD0B29D1Cu,  // float32, INT16, axis 0, block 0
    0x6641554Eu,  // float32, INT16, axis 1, block 0
    0x2DE52795u,  // float32, INT16, axis 2, block 0
    0x0C0F73B2u,  // float32, INT16, axis 2, block 6
    0x99B6BF5Bu,  // float32, INT16, axis 1, block 5
    0xC9CB4A45u,  // float32, INT16, axis 0, block 4
    0x4603A3F3u,  // float32, UINT16, axis None, block 0
    0xF32C199Cu,  // float32, UINT16, axis 0, block 0
    0x380D9615u,  // float32, UINT16, axis 1, block 0
    0x479563BBu,  // float32, UINT16, axis 2, block 0
    0x04C34842u,  // float32, UINT16, axis 2, block 6
    0xFC8C18FDu,  // float32, UINT16, axis 1, block 5
    0x4C5E0342u,  // float32, UINT16, axis 0, block 4
    0x1112A344u,  // float32, INT4, axis None, block 0
    0x4560FB26u,  // float32, INT4, axis 0, block 0
    0x1F020A92u,  // float32, INT4, axis 1, block 0
    0x49DAA5AFu,  // float32, INT4, axis 2, block 0
    0x307B913Au,  // float32, INT4, axis 2, block 6
    0xBC69B909u,  // float32, INT4, axis 1, block 5
    0xDAB1780Cu,  // float32, INT4, axis 0, block 4
    0xA5E00BA7u,  // float32, UINT4, axis None, block 0
    0x87A7B20Fu,  // float32, UINT4, axis 0, block 0
    0xBB176B01u,  // float32, UINT4, axis 1, block 0
    0x135D90B0u,  // float32, UINT4, axis 2, block 0
    0x6755D238u,  // float32, UINT4, axis 2, block 6
    0x9A0ABB68u,  // float32, UINT4, axis 1, block 5
    0x1DBFF279u,  // float32, UINT4, axis 0, block 4
    0xC00B7D69u,  // float32, INT2, axis None, block 0
    0x39E1CB34u,  // float32, INT2, axis 0, block 0
    0xBD47503Fu,  // float32, INT2, axis 1, block 0
    0x0E9FC63Cu,  // float32, INT2, axis 2, block 0
    0x83ACACAAu,  // float32, INT2, axis 2, block 6
    0x22DF8F84u,  // float32, INT2, axis 1, block 5
    0x06A0CBAEu,  // float32, INT2, axis 0, block 4
    0xC0235202u,  // float32, UINT2, axis None, block 0
    0x6A64A2A2u,  // float32, UINT2, axis 0, block 0
    0xA43BBA27u,  // float32, UINT2, axis 1, block 0
    0x5DE5EE6Au,  // float32, UINT2, axis 2, block 0
    0xA6F196DCu,  // float32, UINT2, axis 2, block 6
    0xB33847DBu,  // float32, UINT2, axis 1, block 5
    0xBFA728B3u,  // float32, UINT2, axis 0, block 4
};
