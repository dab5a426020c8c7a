// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/onnx_quantize.py: CRC-32 of codes from ONNX Runtime 1.31.1.
#include <stdint.h>

static const uint32_t onnx_quantize_1_31_arm[] = {
    0x185BB672u,  // float16, INT8
    0x8ED48EFFu,  // float16, UINT8
    0x20877619u,  // float16, INT16
    0xA3FDEAB7u,  // float16, UINT16
    0x3FD06649u,  // float16, INT4
    0x65DC0BF3u,  // float16, UINT4
    0x6561C62Bu,  // float16, INT2
    0xFCE38B9Du,  // float16, UINT2
    0x42555B6Bu,  // float32, INT8, axis None, block 0
    0xB421D59Fu,  // float32, INT8, axis 0, block 0
    0xCDB3087Bu,  // float32, INT8, axis 1, block 0
    0x00793982u,  // float32, INT8, axis 2, block 0
    0x8DE3B411u,  // float32, INT8, axis 2, block 6
    0x2279DC63u,  // float32, INT8, axis 1, block 5
    0xED311781u,  // float32, INT8, axis 0, block 4
    0xF8CDC5E0u,  // float32, UINT8, axis None, block 0
    0x7896C9B1u,  // float32, UINT8, axis 0, block 0
    0x9ED0B64Au,  // float32, UINT8, axis 1, block 0
    0x43319136u,  // float32, UINT8, axis 2, block 0
    0x46782CC6u,  // float32, UINT8, axis 2, block 6
    0x0B3A196Eu,  // float32, UINT8, axis 1, block 5
    0x3687BF24u,  // float32, UINT8, axis 0, block 4
    0x69860F99u,  // float32, INT16, axis None, block 0
    0xD0B29D1Cu,  // float32, INT16, axis 0, block 0
    0x6641554Eu,  // float32, INT16, axis 1, block 0
    0x2DE52795u,  // float32, INT16, axis 2, block 0
    0x0C0F73B2u,  // float32, INT16, axis 2, block 6
    0xB21D17BDu,  // float32, INT16, axis 1, block 5
    0xE1DA1997u,  // float32, INT16, axis 0, block 4
    0x4603A3F3u,  // float32, UINT16, axis None, block 0
    0xF32C199Cu,  // float32, UINT16, axis 0, block 0
    0x380D9615u,  // float32, UINT16, axis 1, block 0
    0x479563BBu,  // float32, UINT16, axis 2, block 0
    0x04C34842u,  // float32, UINT16, axis 2, block 6
    0x6B42AC83u,  // float32, UINT16, axis 1, block 5
    0x6425C077u,  // float32, UINT16, axis 0, block 4
    0x1112A344u,  // float32, INT4, axis None, block 0
    0x4560FB26u,  // float32, INT4, axis 0, block 0
    0x1F020A92u,  // float32, INT4, axis 1, block 0
    0x3E5821ACu,  // float32, INT4, axis 2, block 0
    0x307B913Au,  // float32, INT4, axis 2, block 6
    0x9AC671BDu,  // float32, INT4, axis 1, block 5
    0x7FA53E5Cu,  // float32, INT4, axis 0, block 4
    0xA5E00BA7u,  // float32, UINT4, axis None, block 0
    0x87A7B20Fu,  // float32, UINT4, axis 0, block 0
    0xBB176B01u,  // float32, UINT4, axis 1, block 0
    0x83F4A558u,  // float32, UINT4, axis 2, block 0
    0x6755D238u,  // float32, UINT4, axis 2, block 6
    0x06C547E0u,  // float32, UINT4, axis 1, block 5
    0x65466207u,  // float32, UINT4, axis 0, block 4
    0x3D203982u,  // float32, INT2, axis None, block 0
    0x06FBF67Fu,  // float32, INT2, axis 0, block 0
    0x03536164u,  // float32, INT2, axis 1, block 0
    0xDC544B70u,  // float32, INT2, axis 2, block 0
    0xD4E49238u,  // float32, INT2, axis 2, block 6
    0xF852D24Cu,  // float32, INT2, axis 1, block 5
    0x08306B62u,  // float32, INT2, axis 0, block 4
    0xC0235202u,  // float32, UINT2, axis None, block 0
    0x3ABE5C7Du,  // float32, UINT2, axis 0, block 0
    0x2182E4C2u,  // float32, UINT2, axis 1, block 0
    0x80AE05E2u,  // float32, UINT2, axis 2, block 0
    0x74B62B60u,  // float32, UINT2, axis 2, block 6
    0xA969F1D9u,  // float32, UINT2, axis 1, block 5
    0x12C30126u,  // float32, UINT2, axis 0, block 4
};
