// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/onnx_quantize.py: CRC-32 of codes from ONNX Runtime 1.31.1.
#include <stdint.h>

static const uint32_t onnx_quantize_1_31_x86[] = {
    0x304B52EEu,  // float16, INT8
    0xF920F4F8u,  // float16, UINT8
    0x342A37D8u,  // float16, INT16
    0x9F08A77Cu,  // float16, UINT16
    0x8CDF9F3Au,  // float16, INT4
    0x06A86CACu,  // float16, UINT4
    0x9D016ADAu,  // float16, INT2
    0x284DBA13u,  // float16, UINT2
    0x42555B6Bu,  // float32, INT8, axis None, block 0
    0xB421D59Fu,  // float32, INT8, axis 0, block 0
    0xCDB3087Bu,  // float32, INT8, axis 1, block 0
    0x00793982u,  // float32, INT8, axis 2, block 0
    0x8DE3B411u,  // float32, INT8, axis 2, block 6
    0x00DF79C4u,  // float32, INT8, axis 1, block 5
    0x5935047Au,  // float32, INT8, axis 0, block 4
    0xF8CDC5E0u,  // float32, UINT8, axis None, block 0
    0x7896C9B1u,  // float32, UINT8, axis 0, block 0
    0x9ED0B64Au,  // float32, UINT8, axis 1, block 0
    0x43319136u,  // float32, UINT8, axis 2, block 0
    0x46782CC6u,  // float32, UINT8, axis 2, block 6
    0xD0C0840Bu,  // float32, UINT8, axis 1, block 5
    0xE6351E8Du,  // float32, UINT8, axis 0, block 4
    0x69860F99u,  // float32, INT16, axis None, block 0
    0xD0B29D1Cu,  // float32, INT16, axis 0, block 0
    0x6641554Eu,  // float32, INT16, axis 1, block 0
    0x2DE52795u,  // float32, INT16, axis 2, block 0
    0x0C0F73B2u,  // float32, INT16, axis 2, block 6
    0xC2D3B7F7u,  // float32, INT16, axis 1, block 5
    0x249D2045u,  // float32, INT16, axis 0, block 4
    0x4603A3F3u,  // float32, UINT16, axis None, block 0
    0xF32C199Cu,  // float32, UINT16, axis 0, block 0
    0x380D9615u,  // float32, UINT16, axis 1, block 0
    0x479563BBu,  // float32, UINT16, axis 2, block 0
    0x04C34842u,  // float32, UINT16, axis 2, block 6
    0xD8986635u,  // float32, UINT16, axis 1, block 5
    0x796D6BE0u,  // float32, UINT16, axis 0, block 4
    0x1112A344u,  // float32, INT4, axis None, block 0
    0x4560FB26u,  // float32, INT4, axis 0, block 0
    0x1F020A92u,  // float32, INT4, axis 1, block 0
    0xB6FDF1CBu,  // float32, INT4, axis 2, block 0
    0x307B913Au,  // float32, INT4, axis 2, block 6
    0x3CD8EEE1u,  // float32, INT4, axis 1, block 5
    0xB0C1F35Au,  // float32, INT4, axis 0, block 4
    0xA5E00BA7u,  // float32, UINT4, axis None, block 0
    0x87A7B20Fu,  // float32, UINT4, axis 0, block 0
    0xBB176B01u,  // float32, UINT4, axis 1, block 0
    0x76714889u,  // float32, UINT4, axis 2, block 0
    0x6755D238u,  // float32, UINT4, axis 2, block 6
    0xD05DC1D5u,  // float32, UINT4, axis 1, block 5
    0xF9824D02u,  // float32, UINT4, axis 0, block 4
    0x10733941u,  // float32, INT2, axis None, block 0
    0x16DFC3E6u,  // float32, INT2, axis 0, block 0
    0xD7BDA760u,  // float32, INT2, axis 1, block 0
    0xF1B89258u,  // float32, INT2, axis 2, block 0
    0xFBEA884Cu,  // float32, INT2, axis 2, block 6
    0xA26ED86Cu,  // float32, INT2, axis 1, block 5
    0x6CD040F8u,  // float32, INT2, axis 0, block 4
    0xB4C1198Bu,  // float32, UINT2, axis None, block 0
    0xCB6927A0u,  // float32, UINT2, axis 0, block 0
    0xBB259791u,  // float32, UINT2, axis 1, block 0
    0x2EA32872u,  // float32, UINT2, axis 2, block 0
    0xEB00C693u,  // float32, UINT2, axis 2, block 6
    0xC9CCF417u,  // float32, UINT2, axis 1, block 5
    0x3D7BA66Bu,  // float32, UINT2, axis 0, block 4
};
