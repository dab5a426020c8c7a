// SPDX-License-Identifier: Apache-2.0
// Written by tools/peers/onnx_spec.py: CRC-32 of results of ONNX's reference.
#include <stdint.h>

static const uint32_t onnx_spec[] = {
    0xB1856746u,  // FLOAT32 to INT8, y_scale FLOAT32, axis None, block 0
    0xB1BF3C4Du,  // FLOAT16 to INT8, y_scale FLOAT32, axis None, block 0
    0x56C1CCBDu,  // BFLOAT16 to INT8, y_scale FLOAT32, axis None, block 0
    0xD5DEE6A3u,  // INT8 to FLOAT32, axis None, block 0
    0xCE5561B9u,  // FLOAT32 to INT8, y_scale FLOAT32, axis 0, block 0
    0xD08DE12Du,  // FLOAT16 to INT8, y_scale FLOAT32, axis 0, block 0
    0x4DF362AEu,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 0, block 0
    0xE28A2EF2u,  // INT8 to FLOAT32, axis 0, block 0
    0x2847945Au,  // FLOAT32 to INT8, y_scale FLOAT32, axis 1, block 0
    0x8D6789F9u,  // FLOAT16 to INT8, y_scale FLOAT32, axis 1, block 0
    0x49422CCDu,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 1, block 0
    0x4A748C2Bu,  // INT8 to FLOAT32, axis 1, block 0
    0x9F6F3FE5u,  // FLOAT32 to INT8, y_scale FLOAT32, axis 2, block 0
    0x9B9DEC0Cu,  // FLOAT16 to INT8, y_scale FLOAT32, axis 2, block 0
    0x7CBFCA27u,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 2, block 0
    0xBFAD0883u,  // INT8 to FLOAT32, axis 2, block 0
    0x917EECBBu,  // FLOAT32 to INT8, y_scale FLOAT32, axis 2, block 7
    0x7C7DC2F1u,  // FLOAT16 to INT8, y_scale FLOAT32, axis 2, block 7
    0x20DE0A37u,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 2, block 7
    0x3278BD28u,  // INT8 to FLOAT32, axis 2, block 7
    0x60314002u,  // FLOAT32 to INT8, y_scale FLOAT32, axis 1, block 5
    0x23777C94u,  // FLOAT16 to INT8, y_scale FLOAT32, axis 1, block 5
    0x805AD088u,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 1, block 5
    0x029053A2u,  // INT8 to FLOAT32, axis 1, block 5
    0x27A89C06u,  // FLOAT32 to INT8, y_scale FLOAT32, axis 0, block 3
    0xE3E99851u,  // FLOAT16 to INT8, y_scale FLOAT32, axis 0, block 3
    0x224CED3Au,  // BFLOAT16 to INT8, y_scale FLOAT32, axis 0, block 3
    0x5445F5F0u,  // INT8 to FLOAT32, axis 0, block 3
    0xDC527CDEu,  // FLOAT32 to INT8, y_scale FLOAT16, axis None, block 0
    0xDC527CDEu,  // FLOAT16 to INT8, y_scale FLOAT16, axis None, block 0
    0x699802A7u,  // BFLOAT16 to INT8, y_scale FLOAT16, axis None, block 0
    0xB0AE1D5Au,  // INT8 to FLOAT16, axis None, block 0
    0x6C90CBB3u,  // FLOAT32 to INT8, y_scale FLOAT16, axis 0, block 0
    0x6C90CBB3u,  // FLOAT16 to INT8, y_scale FLOAT16, axis 0, block 0
    0x531EE1E9u,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 0, block 0
    0x064F41B7u,  // INT8 to FLOAT16, axis 0, block 0
    0xF8655106u,  // FLOAT32 to INT8, y_scale FLOAT16, axis 1, block 0
    0xF8655106u,  // FLOAT16 to INT8, y_scale FLOAT16, axis 1, block 0
    0x32DEDFADu,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 1, block 0
    0xC102643Du,  // INT8 to FLOAT16, axis 1, block 0
    0x7AC77C43u,  // FLOAT32 to INT8, y_scale FLOAT16, axis 2, block 0
    0x7AC77C43u,  // FLOAT16 to INT8, y_scale FLOAT16, axis 2, block 0
    0xE01D6D06u,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 2, block 0
    0xDE302A27u,  // INT8 to FLOAT16, axis 2, block 0
    0x2B39791Au,  // FLOAT32 to INT8, y_scale FLOAT16, axis 2, block 7
    0x2B39791Au,  // FLOAT16 to INT8, y_scale FLOAT16, axis 2, block 7
    0xB88E8697u,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 2, block 7
    0x4BE81238u,  // INT8 to FLOAT16, axis 2, block 7
    0x9A96B8E7u,  // FLOAT32 to INT8, y_scale FLOAT16, axis 1, block 5
    0x9A96B8E7u,  // FLOAT16 to INT8, y_scale FLOAT16, axis 1, block 5
    0xD38656E9u,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 1, block 5
    0x749DFBE5u,  // INT8 to FLOAT16, axis 1, block 5
    0xCC84BD8Bu,  // FLOAT32 to INT8, y_scale FLOAT16, axis 0, block 3
    0xCC84BD8Bu,  // FLOAT16 to INT8, y_scale FLOAT16, axis 0, block 3
    0xCE4C65EFu,  // BFLOAT16 to INT8, y_scale FLOAT16, axis 0, block 3
    0x9338990Bu,  // INT8 to FLOAT16, axis 0, block 3
    0x96FFDF49u,  // FLOAT32 to INT8, y_scale BFLOAT16, axis None, block 0
    0x3C9D4F23u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis None, block 0
    0x96FFDF49u,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis None, block 0
    0xDD8D6463u,  // INT8 to BFLOAT16, axis None, block 0
    0x8849E87Du,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 0, block 0
    0xD2E44531u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 0, block 0
    0x8849E87Du,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 0, block 0
    0xD9108326u,  // INT8 to BFLOAT16, axis 0, block 0
    0x410135BCu,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 1, block 0
    0xB8138F10u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 1, block 0
    0x410135BCu,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 1, block 0
    0x0271851Cu,  // INT8 to BFLOAT16, axis 1, block 0
    0xE2437062u,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 2, block 0
    0xD5612D60u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 2, block 0
    0xE2437062u,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 2, block 0
    0xD82A6547u,  // INT8 to BFLOAT16, axis 2, block 0
    0x29EC980Au,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 2, block 7
    0xBE9D593Eu,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 2, block 7
    0x29EC980Au,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 2, block 7
    0x10039DDBu,  // INT8 to BFLOAT16, axis 2, block 7
    0x9BE31A10u,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 1, block 5
    0x9BE31A10u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 1, block 5
    0x9BE31A10u,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 1, block 5
    0x07FD1944u,  // INT8 to BFLOAT16, axis 1, block 5
    0x2004CA7Au,  // FLOAT32 to INT8, y_scale BFLOAT16, axis 0, block 3
    0x528D7B36u,  // FLOAT16 to INT8, y_scale BFLOAT16, axis 0, block 3
    0x2004CA7Au,  // BFLOAT16 to INT8, y_scale BFLOAT16, axis 0, block 3
    0x1ED5A530u,  // INT8 to BFLOAT16, axis 0, block 3
    0xBDE3159Cu,  // FLOAT32 to UINT8, y_scale FLOAT32, axis None, block 0
    0x262940BDu,  // FLOAT16 to UINT8, y_scale FLOAT32, axis None, block 0
    0xD6AAB29Cu,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis None, block 0
    0x544830F3u,  // UINT8 to FLOAT32, axis None, block 0
    0x3BD9E2FCu,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 0, block 0
    0x5D015288u,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 0, block 0
    0x3E2D46BFu,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 0, block 0
    0xB24F4ED6u,  // UINT8 to FLOAT32, axis 0, block 0
    0xCF6FCE77u,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 1, block 0
    0xA4AC4764u,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 1, block 0
    0xFA94AD20u,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 1, block 0
    0x43EF4057u,  // UINT8 to FLOAT32, axis 1, block 0
    0xACB03702u,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 2, block 0
    0x861FBACFu,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 2, block 0
    0x2ECDE08Du,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 2, block 0
    0xE4C40954u,  // UINT8 to FLOAT32, axis 2, block 0
    0x195BEDE9u,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 2, block 7
    0xE6323CC8u,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 2, block 7
    0x03BA686Cu,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 2, block 7
    0x753563C8u,  // UINT8 to FLOAT32, axis 2, block 7
    0xDB93757Au,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 1, block 5
    0x638A306Eu,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 1, block 5
    0x2808C5D7u,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 1, block 5
    0x0BC438B4u,  // UINT8 to FLOAT32, axis 1, block 5
    0xFE8F785Fu,  // FLOAT32 to UINT8, y_scale FLOAT32, axis 0, block 3
    0xC8492667u,  // FLOAT16 to UINT8, y_scale FLOAT32, axis 0, block 3
    0x07B52F5Du,  // BFLOAT16 to UINT8, y_scale FLOAT32, axis 0, block 3
    0x45D2C369u,  // UINT8 to FLOAT32, axis 0, block 3
    0xF97B4E21u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis None, block 0
    0xF97B4E21u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis None, block 0
    0xA23D3A04u,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis None, block 0
    0xEBF95BDFu,  // UINT8 to FLOAT16, axis None, block 0
    0xAACDB920u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 0, block 0
    0xAACDB920u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 0, block 0
    0x88F5B021u,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 0, block 0
    0xC7A4F48Au,  // UINT8 to FLOAT16, axis 0, block 0
    0x8E27A4D2u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 1, block 0
    0x8E27A4D2u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 1, block 0
    0x3D875A3Eu,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 1, block 0
    0xCCE9B98Du,  // UINT8 to FLOAT16, axis 1, block 0
    0x8BA296E0u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 2, block 0
    0x8BA296E0u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 2, block 0
    0x5BF215B0u,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 2, block 0
    0x792DD82Cu,  // UINT8 to FLOAT16, axis 2, block 0
    0xDC49B8F6u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 2, block 7
    0xDC49B8F6u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 2, block 7
    0x67B0D25Du,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 2, block 7
    0xEAACA414u,  // UINT8 to FLOAT16, axis 2, block 7
    0xA36D6AD4u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 1, block 5
    0xA36D6AD4u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 1, block 5
    0xCCE0CFFFu,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 1, block 5
    0x3860FEC9u,  // UINT8 to FLOAT16, axis 1, block 5
    0x14180397u,  // FLOAT32 to UINT8, y_scale FLOAT16, axis 0, block 3
    0x14180397u,  // FLOAT16 to UINT8, y_scale FLOAT16, axis 0, block 3
    0x9E06C60Eu,  // BFLOAT16 to UINT8, y_scale FLOAT16, axis 0, block 3
    0xA67CDD23u,  // UINT8 to FLOAT16, axis 0, block 3
    0xED98F005u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis None, block 0
    0x421F0A74u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis None, block 0
    0xED98F005u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis None, block 0
    0x3DF00983u,  // UINT8 to BFLOAT16, axis None, block 0
    0xEAA64A30u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 0, block 0
    0x72C1CDB8u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 0, block 0
    0xEAA64A30u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 0, block 0
    0x18F7CB50u,  // UINT8 to BFLOAT16, axis 0, block 0
    0x6B67AD09u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 1, block 0
    0xEEAFC825u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 1, block 0
    0x6B67AD09u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 1, block 0
    0x903248CCu,  // UINT8 to BFLOAT16, axis 1, block 0
    0x75D8F818u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 2, block 0
    0xCED50BEAu,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 2, block 0
    0x75D8F818u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 2, block 0
    0x134D0918u,  // UINT8 to BFLOAT16, axis 2, block 0
    0x61A7F17Cu,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 2, block 7
    0x8C515807u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 2, block 7
    0x61A7F17Cu,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 2, block 7
    0x4484C4D7u,  // UINT8 to BFLOAT16, axis 2, block 7
    0x150817D9u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 1, block 5
    0x1E5A6EA1u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 1, block 5
    0x150817D9u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 1, block 5
    0xE1F27F1Eu,  // UINT8 to BFLOAT16, axis 1, block 5
    0x49039416u,  // FLOAT32 to UINT8, y_scale BFLOAT16, axis 0, block 3
    0xC4FD9D91u,  // FLOAT16 to UINT8, y_scale BFLOAT16, axis 0, block 3
    0x49039416u,  // BFLOAT16 to UINT8, y_scale BFLOAT16, axis 0, block 3
    0xDDF760A6u,  // UINT8 to BFLOAT16, axis 0, block 3
    0x9C898A21u,  // FLOAT32 to INT16, y_scale FLOAT32, axis None, block 0
    0xA8409169u,  // FLOAT16 to INT16, y_scale FLOAT32, axis None, block 0
    0xA532A5CBu,  // BFLOAT16 to INT16, y_scale FLOAT32, axis None, block 0
    0xE825B942u,  // INT16 to FLOAT32, axis None, block 0
    0xEEC488B1u,  // FLOAT32 to INT16, y_scale FLOAT32, axis 0, block 0
    0x636A5F6Eu,  // FLOAT16 to INT16, y_scale FLOAT32, axis 0, block 0
    0x25BC6E80u,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 0, block 0
    0xC79AE9B7u,  // INT16 to FLOAT32, axis 0, block 0
    0x84FF685Fu,  // FLOAT32 to INT16, y_scale FLOAT32, axis 1, block 0
    0xA79BC0C9u,  // FLOAT16 to INT16, y_scale FLOAT32, axis 1, block 0
    0x85CDAF2Cu,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 1, block 0
    0x65EB6D0Du,  // INT16 to FLOAT32, axis 1, block 0
    0x14F8AD94u,  // FLOAT32 to INT16, y_scale FLOAT32, axis 2, block 0
    0x6654C397u,  // FLOAT16 to INT16, y_scale FLOAT32, axis 2, block 0
    0x073F395Eu,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 2, block 0
    0x3D688AA0u,  // INT16 to FLOAT32, axis 2, block 0
    0xACC89958u,  // FLOAT32 to INT16, y_scale FLOAT32, axis 2, block 7
    0x1FDA6D94u,  // FLOAT16 to INT16, y_scale FLOAT32, axis 2, block 7
    0xB3B22F7Du,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 2, block 7
    0x879B1909u,  // INT16 to FLOAT32, axis 2, block 7
    0x9ED43F19u,  // FLOAT32 to INT16, y_scale FLOAT32, axis 1, block 5
    0x20166B4Eu,  // FLOAT16 to INT16, y_scale FLOAT32, axis 1, block 5
    0x953CF648u,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 1, block 5
    0x924ADDFEu,  // INT16 to FLOAT32, axis 1, block 5
    0xD2F95DBCu,  // FLOAT32 to INT16, y_scale FLOAT32, axis 0, block 3
    0x9C6F5B42u,  // FLOAT16 to INT16, y_scale FLOAT32, axis 0, block 3
    0xBF8BC101u,  // BFLOAT16 to INT16, y_scale FLOAT32, axis 0, block 3
    0x4141B9CBu,  // INT16 to FLOAT32, axis 0, block 3
    0x4AA76BA0u,  // FLOAT32 to INT16, y_scale FLOAT16, axis None, block 0
    0x4AA76BA0u,  // FLOAT16 to INT16, y_scale FLOAT16, axis None, block 0
    0x6D9D7A6Eu,  // BFLOAT16 to INT16, y_scale FLOAT16, axis None, block 0
    0x853F7B12u,  // INT16 to FLOAT16, axis None, block 0
    0xF60A8330u,  // FLOAT32 to INT16, y_scale FLOAT16, axis 0, block 0
    0xF60A8330u,  // FLOAT16 to INT16, y_scale FLOAT16, axis 0, block 0
    0x0530EA1Cu,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 0, block 0
    0x62F2C23Au,  // INT16 to FLOAT16, axis 0, block 0
    0xFDF6B7E1u,  // FLOAT32 to INT16, y_scale FLOAT16, axis 1, block 0
    0xFDF6B7E1u,  // FLOAT16 to INT16, y_scale FLOAT16, axis 1, block 0
    0xB6684E5Du,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 1, block 0
    0xB5D35ED6u,  // INT16 to FLOAT16, axis 1, block 0
    0xC7559839u,  // FLOAT32 to INT16, y_scale FLOAT16, axis 2, block 0
    0xC7559839u,  // FLOAT16 to INT16, y_scale FLOAT16, axis 2, block 0
    0x3F5EA9F1u,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 2, block 0
    0xEEFA90DFu,  // INT16 to FLOAT16, axis 2, block 0
    0x986C5E0Du,  // FLOAT32 to INT16, y_scale FLOAT16, axis 2, block 7
    0x986C5E0Du,  // FLOAT16 to INT16, y_scale FLOAT16, axis 2, block 7
    0x0BA242D5u,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 2, block 7
    0xDB40D894u,  // INT16 to FLOAT16, axis 2, block 7
    0xE97038DDu,  // FLOAT32 to INT16, y_scale FLOAT16, axis 1, block 5
    0xE97038DDu,  // FLOAT16 to INT16, y_scale FLOAT16, axis 1, block 5
    0x553CD2CDu,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 1, block 5
    0xEEF337D9u,  // INT16 to FLOAT16, axis 1, block 5
    0xDDD69D65u,  // FLOAT32 to INT16, y_scale FLOAT16, axis 0, block 3
    0xDDD69D65u,  // FLOAT16 to INT16, y_scale FLOAT16, axis 0, block 3
    0x5DE0E9B6u,  // BFLOAT16 to INT16, y_scale FLOAT16, axis 0, block 3
    0xC19EA3F4u,  // INT16 to FLOAT16, axis 0, block 3
    0x2FE2467Eu,  // FLOAT32 to INT16, y_scale BFLOAT16, axis None, block 0
    0xDE68B158u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis None, block 0
    0x2FE2467Eu,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis None, block 0
    0x146D84AAu,  // INT16 to BFLOAT16, axis None, block 0
    0x838B0F7Eu,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 0, block 0
    0xDE85DE99u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 0, block 0
    0x838B0F7Eu,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 0, block 0
    0x29B385D6u,  // INT16 to BFLOAT16, axis 0, block 0
    0x770A852Du,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 1, block 0
    0x0AA8DBE8u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 1, block 0
    0x770A852Du,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 1, block 0
    0x4ECBC2C7u,  // INT16 to BFLOAT16, axis 1, block 0
    0xB4702049u,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 2, block 0
    0xA151111Cu,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 2, block 0
    0xB4702049u,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 2, block 0
    0xEF9C4F7Eu,  // INT16 to BFLOAT16, axis 2, block 0
    0xC688C54Fu,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 2, block 7
    0x7E285EF3u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 2, block 7
    0xC688C54Fu,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 2, block 7
    0xF2228DE6u,  // INT16 to BFLOAT16, axis 2, block 7
    0xD6570464u,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 1, block 5
    0x691278C6u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 1, block 5
    0xD6570464u,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 1, block 5
    0xDFFA05FAu,  // INT16 to BFLOAT16, axis 1, block 5
    0xC16929A4u,  // FLOAT32 to INT16, y_scale BFLOAT16, axis 0, block 3
    0x338F8B67u,  // FLOAT16 to INT16, y_scale BFLOAT16, axis 0, block 3
    0xC16929A4u,  // BFLOAT16 to INT16, y_scale BFLOAT16, axis 0, block 3
    0xB80022A9u,  // INT16 to BFLOAT16, axis 0, block 3
    0xA8535251u,  // FLOAT32 to UINT16, y_scale FLOAT32, axis None, block 0
    0x3F1248D5u,  // FLOAT16 to UINT16, y_scale FLOAT32, axis None, block 0
    0xC4239777u,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis None, block 0
    0xEBBAE81Du,  // UINT16 to FLOAT32, axis None, block 0
    0xEB6521F4u,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 0, block 0
    0x74FCDD93u,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 0, block 0
    0xE2FE4E88u,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 0, block 0
    0x7DFEB123u,  // UINT16 to FLOAT32, axis 0, block 0
    0x1F3D018Fu,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 1, block 0
    0xA133FFC9u,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 1, block 0
    0x083CA23Bu,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 1, block 0
    0x844741B1u,  // UINT16 to FLOAT32, axis 1, block 0
    0x501E40AAu,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 2, block 0
    0x2B33091Au,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 2, block 0
    0xEBBC94A2u,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 2, block 0
    0x4E13CAACu,  // UINT16 to FLOAT32, axis 2, block 0
    0x76319940u,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 2, block 7
    0xD81E219Du,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 2, block 7
    0xDCEF2ED1u,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 2, block 7
    0xF98CA677u,  // UINT16 to FLOAT32, axis 2, block 7
    0x90BCDB68u,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 1, block 5
    0xCA354594u,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 1, block 5
    0x0C384A6Cu,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 1, block 5
    0x1B98A5DDu,  // UINT16 to FLOAT32, axis 1, block 5
    0xC310217Bu,  // FLOAT32 to UINT16, y_scale FLOAT32, axis 0, block 3
    0x8C230C1Fu,  // FLOAT16 to UINT16, y_scale FLOAT32, axis 0, block 3
    0x5451E2B8u,  // BFLOAT16 to UINT16, y_scale FLOAT32, axis 0, block 3
    0x9CF02B30u,  // UINT16 to FLOAT32, axis 0, block 3
    0x7F5A3BB2u,  // FLOAT32 to UINT16, y_scale FLOAT16, axis None, block 0
    0x7F5A3BB2u,  // FLOAT16 to UINT16, y_scale FLOAT16, axis None, block 0
    0xB2EB6E21u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis None, block 0
    0x664CD154u,  // UINT16 to FLOAT16, axis None, block 0
    0xCC57A921u,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 0, block 0
    0xCC57A921u,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 0, block 0
    0xB69ABBF4u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 0, block 0
    0x8A27B35Eu,  // UINT16 to FLOAT16, axis 0, block 0
    0x0BA9DC4Du,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 1, block 0
    0x0BA9DC4Du,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 1, block 0
    0x87BF8366u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 1, block 0
    0x71A13D56u,  // UINT16 to FLOAT16, axis 1, block 0
    0xA608F0B8u,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 2, block 0
    0xA608F0B8u,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 2, block 0
    0xAD41D070u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 2, block 0
    0x09257FD9u,  // UINT16 to FLOAT16, axis 2, block 0
    0xADD90268u,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 2, block 7
    0xADD90268u,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 2, block 7
    0xF0395474u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 2, block 7
    0x4EB8C4EEu,  // UINT16 to FLOAT16, axis 2, block 7
    0x55BD2C6Eu,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 1, block 5
    0x55BD2C6Eu,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 1, block 5
    0xC6FF2574u,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 1, block 5
    0x40701583u,  // UINT16 to FLOAT16, axis 1, block 5
    0x5AA04E82u,  // FLOAT32 to UINT16, y_scale FLOAT16, axis 0, block 3
    0x5AA04E82u,  // FLOAT16 to UINT16, y_scale FLOAT16, axis 0, block 3
    0xB522CE8Au,  // BFLOAT16 to UINT16, y_scale FLOAT16, axis 0, block 3
    0x63FC855Du,  // UINT16 to FLOAT16, axis 0, block 3
    0x00A624F6u,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis None, block 0
    0x2BA35522u,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis None, block 0
    0x00A624F6u,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis None, block 0
    0x4BB7A1E6u,  // UINT16 to BFLOAT16, axis None, block 0
    0x5585CCEFu,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 0, block 0
    0xB3ECEAEDu,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 0, block 0
    0x5585CCEFu,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 0, block 0
    0x170CD324u,  // UINT16 to BFLOAT16, axis 0, block 0
    0xA417E669u,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 1, block 0
    0x74AAB5BFu,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 1, block 0
    0xA417E669u,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 1, block 0
    0x122ED77Eu,  // UINT16 to BFLOAT16, axis 1, block 0
    0x79FD8066u,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 2, block 0
    0xA64179CBu,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 2, block 0
    0x79FD8066u,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 2, block 0
    0xEDB68677u,  // UINT16 to BFLOAT16, axis 2, block 0
    0x4C41DE49u,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 2, block 7
    0xD42BF032u,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 2, block 7
    0x4C41DE49u,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 2, block 7
    0xF218B4F5u,  // UINT16 to BFLOAT16, axis 2, block 7
    0xD5CE1A4Fu,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 1, block 5
    0xBFA1DB7Du,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 1, block 5
    0xD5CE1A4Fu,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 1, block 5
    0xB7D81EE4u,  // UINT16 to BFLOAT16, axis 1, block 5
    0xEF8F48CAu,  // FLOAT32 to UINT16, y_scale BFLOAT16, axis 0, block 3
    0x22F7AE3Fu,  // FLOAT16 to UINT16, y_scale BFLOAT16, axis 0, block 3
    0xEF8F48CAu,  // BFLOAT16 to UINT16, y_scale BFLOAT16, axis 0, block 3
    0xE70B6481u,  // UINT16 to BFLOAT16, axis 0, block 3
    0xCC73CE21u,  // FLOAT32 to INT4, y_scale FLOAT32, axis None, block 0
    0xD7D9E89Cu,  // FLOAT16 to INT4, y_scale FLOAT32, axis None, block 0
    0x2C0CDC07u,  // BFLOAT16 to INT4, y_scale FLOAT32, axis None, block 0
    0x78526639u,  // INT4 to FLOAT32, axis None, block 0
    0xEF59F88Cu,  // FLOAT32 to INT4, y_scale FLOAT32, axis 0, block 0
    0x238B81E2u,  // FLOAT16 to INT4, y_scale FLOAT32, axis 0, block 0
    0x8B6469BFu,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 0, block 0
    0x9C92C016u,  // INT4 to FLOAT32, axis 0, block 0
    0x37498C89u,  // FLOAT32 to INT4, y_scale FLOAT32, axis 1, block 0
    0xB554F141u,  // FLOAT16 to INT4, y_scale FLOAT32, axis 1, block 0
    0xEE862890u,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 1, block 0
    0x7CE92CDCu,  // INT4 to FLOAT32, axis 1, block 0
    0x85BEB95Bu,  // FLOAT32 to INT4, y_scale FLOAT32, axis 2, block 0
    0xA532E8FDu,  // FLOAT16 to INT4, y_scale FLOAT32, axis 2, block 0
    0xE0791ACEu,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 2, block 0
    0x4C4549BEu,  // INT4 to FLOAT32, axis 2, block 0
    0x860EEEA3u,  // FLOAT32 to INT4, y_scale FLOAT32, axis 2, block 7
    0x11CBEED5u,  // FLOAT16 to INT4, y_scale FLOAT32, axis 2, block 7
    0xBAB98F8Du,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 2, block 7
    0x81086A31u,  // INT4 to FLOAT32, axis 2, block 7
    0xDFAB1ACAu,  // FLOAT32 to INT4, y_scale FLOAT32, axis 1, block 5
    0xCFA69A96u,  // FLOAT16 to INT4, y_scale FLOAT32, axis 1, block 5
    0x7312E9BCu,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 1, block 5
    0xE5E11864u,  // INT4 to FLOAT32, axis 1, block 5
    0x1AFEEC6Eu,  // FLOAT32 to INT4, y_scale FLOAT32, axis 0, block 3
    0x2715B6F4u,  // FLOAT16 to INT4, y_scale FLOAT32, axis 0, block 3
    0x91F2C7C6u,  // BFLOAT16 to INT4, y_scale FLOAT32, axis 0, block 3
    0x0ECAA3E2u,  // INT4 to FLOAT32, axis 0, block 3
    0xCFBC8938u,  // FLOAT32 to INT4, y_scale FLOAT16, axis None, block 0
    0xCFBC8938u,  // FLOAT16 to INT4, y_scale FLOAT16, axis None, block 0
    0xE9BCD0E9u,  // BFLOAT16 to INT4, y_scale FLOAT16, axis None, block 0
    0x59EB1417u,  // INT4 to FLOAT16, axis None, block 0
    0x2BF31AFFu,  // FLOAT32 to INT4, y_scale FLOAT16, axis 0, block 0
    0x2BF31AFFu,  // FLOAT16 to INT4, y_scale FLOAT16, axis 0, block 0
    0x8B6469BFu,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 0, block 0
    0x3F02E26Eu,  // INT4 to FLOAT16, axis 0, block 0
    0x9E04F1A8u,  // FLOAT32 to INT4, y_scale FLOAT16, axis 1, block 0
    0x9E04F1A8u,  // FLOAT16 to INT4, y_scale FLOAT16, axis 1, block 0
    0xEE862890u,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 1, block 0
    0x45B102F6u,  // INT4 to FLOAT16, axis 1, block 0
    0xBCB966FCu,  // FLOAT32 to INT4, y_scale FLOAT16, axis 2, block 0
    0xBCB966FCu,  // FLOAT16 to INT4, y_scale FLOAT16, axis 2, block 0
    0xE0791ACEu,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 2, block 0
    0xB7876256u,  // INT4 to FLOAT16, axis 2, block 0
    0x9341CC6Au,  // FLOAT32 to INT4, y_scale FLOAT16, axis 2, block 7
    0x9341CC6Au,  // FLOAT16 to INT4, y_scale FLOAT16, axis 2, block 7
    0xA50D169Cu,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 2, block 7
    0x9A95632Fu,  // INT4 to FLOAT16, axis 2, block 7
    0xF99BB75Du,  // FLOAT32 to INT4, y_scale FLOAT16, axis 1, block 5
    0xF99BB75Du,  // FLOAT16 to INT4, y_scale FLOAT16, axis 1, block 5
    0x7312E9BCu,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 1, block 5
    0x023733B5u,  // INT4 to FLOAT16, axis 1, block 5
    0xF0643E57u,  // FLOAT32 to INT4, y_scale FLOAT16, axis 0, block 3
    0xF0643E57u,  // FLOAT16 to INT4, y_scale FLOAT16, axis 0, block 3
    0x81CD8665u,  // BFLOAT16 to INT4, y_scale FLOAT16, axis 0, block 3
    0x53BA065Fu,  // INT4 to FLOAT16, axis 0, block 3
    0xF0F63793u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis None, block 0
    0x5A94A7F9u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis None, block 0
    0xF0F63793u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis None, block 0
    0xEB8F04E8u,  // INT4 to BFLOAT16, axis None, block 0
    0x59E09126u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 0, block 0
    0x59E09126u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 0, block 0
    0x59E09126u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 0, block 0
    0xB0E074C7u,  // INT4 to BFLOAT16, axis 0, block 0
    0x737D9738u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 1, block 0
    0x737D9738u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 1, block 0
    0x737D9738u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 1, block 0
    0x7C95D6F9u,  // INT4 to BFLOAT16, axis 1, block 0
    0x42F30301u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 2, block 0
    0x42F30301u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 2, block 0
    0x42F30301u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 2, block 0
    0x4B574855u,  // INT4 to BFLOAT16, axis 2, block 0
    0x45E13414u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 2, block 7
    0x45E13414u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 2, block 7
    0x45E13414u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 2, block 7
    0x1753A357u,  // INT4 to BFLOAT16, axis 2, block 7
    0x588754DEu,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 1, block 5
    0x588754DEu,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 1, block 5
    0x588754DEu,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 1, block 5
    0x2C9A9D51u,  // INT4 to BFLOAT16, axis 1, block 5
    0xC2A2D1B4u,  // FLOAT32 to INT4, y_scale BFLOAT16, axis 0, block 3
    0x355F3957u,  // FLOAT16 to INT4, y_scale BFLOAT16, axis 0, block 3
    0xC2A2D1B4u,  // BFLOAT16 to INT4, y_scale BFLOAT16, axis 0, block 3
    0x4E7E392Au,  // INT4 to BFLOAT16, axis 0, block 3
    0x5C5C483Eu,  // FLOAT32 to UINT4, y_scale FLOAT32, axis None, block 0
    0x385F059Du,  // FLOAT16 to UINT4, y_scale FLOAT32, axis None, block 0
    0x1BC2C7ABu,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis None, block 0
    0x50213DAFu,  // UINT4 to FLOAT32, axis None, block 0
    0xB7474DC9u,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 0, block 0
    0x1A086482u,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 0, block 0
    0x2EDE95D9u,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 0, block 0
    0xBD0AA79Du,  // UINT4 to FLOAT32, axis 0, block 0
    0xBC2DC297u,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 1, block 0
    0x17E93473u,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 1, block 0
    0x2ADF1B62u,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 1, block 0
    0x1D040E31u,  // UINT4 to FLOAT32, axis 1, block 0
    0xD49F17EBu,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 2, block 0
    0xD20746A3u,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 2, block 0
    0x85EAB991u,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 2, block 0
    0x17193CB0u,  // UINT4 to FLOAT32, axis 2, block 0
    0x520246DFu,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 2, block 7
    0x7B0F523Eu,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 2, block 7
    0x6A13AE7Bu,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 2, block 7
    0x0540BD01u,  // UINT4 to FLOAT32, axis 2, block 7
    0x3FB72F5Du,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 1, block 5
    0xB1C4D16Fu,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 1, block 5
    0x9007BD15u,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 1, block 5
    0x33388B02u,  // UINT4 to FLOAT32, axis 1, block 5
    0x976D04D3u,  // FLOAT32 to UINT4, y_scale FLOAT32, axis 0, block 3
    0x7BC91F02u,  // FLOAT16 to UINT4, y_scale FLOAT32, axis 0, block 3
    0xE58577E4u,  // BFLOAT16 to UINT4, y_scale FLOAT32, axis 0, block 3
    0xBD524F40u,  // UINT4 to FLOAT32, axis 0, block 3
    0xBEECD225u,  // FLOAT32 to UINT4, y_scale FLOAT16, axis None, block 0
    0xBEECD225u,  // FLOAT16 to UINT4, y_scale FLOAT16, axis None, block 0
    0x2360BEBFu,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis None, block 0
    0x913ED723u,  // UINT4 to FLOAT16, axis None, block 0
    0x1651F2BAu,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 0, block 0
    0x1651F2BAu,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 0, block 0
    0xD50F26F2u,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 0, block 0
    0xF036BB0Au,  // UINT4 to FLOAT16, axis 0, block 0
    0xCD139F42u,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 1, block 0
    0xCD139F42u,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 1, block 0
    0x2ADF1B62u,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 1, block 0
    0x63E5FE0Cu,  // UINT4 to FLOAT16, axis 1, block 0
    0xBDA2526Fu,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 2, block 0
    0xBDA2526Fu,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 2, block 0
    0xF3C4235Cu,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 2, block 0
    0xEC83E024u,  // UINT4 to FLOAT16, axis 2, block 0
    0xD12A4F88u,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 2, block 7
    0xD12A4F88u,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 2, block 7
    0xE766957Eu,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 2, block 7
    0x638D5582u,  // UINT4 to FLOAT16, axis 2, block 7
    0x0C931B92u,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 1, block 5
    0x0C931B92u,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 1, block 5
    0x79C911A1u,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 1, block 5
    0xF3C3865Cu,  // UINT4 to FLOAT16, axis 1, block 5
    0x22F9A86Cu,  // FLOAT32 to UINT4, y_scale FLOAT16, axis 0, block 3
    0x22F9A86Cu,  // FLOAT16 to UINT4, y_scale FLOAT16, axis 0, block 3
    0xE58577E4u,  // BFLOAT16 to UINT4, y_scale FLOAT16, axis 0, block 3
    0x1EBC0D60u,  // UINT4 to FLOAT16, axis 0, block 3
    0xA25FB719u,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis None, block 0
    0x083D2773u,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis None, block 0
    0xA25FB719u,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis None, block 0
    0x2F1E56A7u,  // UINT4 to BFLOAT16, axis None, block 0
    0xC808D003u,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 0, block 0
    0xC808D003u,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 0, block 0
    0xC808D003u,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 0, block 0
    0xCBBD0D84u,  // UINT4 to BFLOAT16, axis 0, block 0
    0x56ED4C51u,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 1, block 0
    0x56ED4C51u,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 1, block 0
    0x56ED4C51u,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 1, block 0
    0x4F170FCFu,  // UINT4 to BFLOAT16, axis 1, block 0
    0xD95D814Fu,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 2, block 0
    0xD95D814Fu,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 2, block 0
    0xD95D814Fu,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 2, block 0
    0x20D570C9u,  // UINT4 to BFLOAT16, axis 2, block 0
    0x954B15E2u,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 2, block 7
    0x954B15E2u,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 2, block 7
    0x954B15E2u,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 2, block 7
    0x0F66B511u,  // UINT4 to BFLOAT16, axis 2, block 7
    0xDA3F2ACBu,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 1, block 5
    0xDA3F2ACBu,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 1, block 5
    0xDA3F2ACBu,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 1, block 5
    0xE3618E9Cu,  // UINT4 to BFLOAT16, axis 1, block 5
    0xC8D24AFEu,  // FLOAT32 to UINT4, y_scale BFLOAT16, axis 0, block 3
    0x3F2FA21Du,  // FLOAT16 to UINT4, y_scale BFLOAT16, axis 0, block 3
    0xC8D24AFEu,  // BFLOAT16 to UINT4, y_scale BFLOAT16, axis 0, block 3
    0xAFC9B077u,  // UINT4 to BFLOAT16, axis 0, block 3
    0x61B22F1Bu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis None, block 0
    0x66133508u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis None, block 0
    0xDE0AF56Fu,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis None, block 0
    0x9C514426u,  // FLOAT8_E4M3FN to FLOAT32, axis None, block 0
    0x8C33380Cu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 0
    0xCB2A9F6Au,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 0
    0xAB3EBA8Cu,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 0
    0x25D2449Bu,  // FLOAT8_E4M3FN to FLOAT32, axis 0, block 0
    0x29C3252Bu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 0
    0xB12B9D96u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 0
    0x379E185Au,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 0
    0xD8A46BCFu,  // FLOAT8_E4M3FN to FLOAT32, axis 1, block 0
    0xF073684Cu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 0
    0x68B9FD7Au,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 0
    0xE88E520Du,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 0
    0xF4149A0Au,  // FLOAT8_E4M3FN to FLOAT32, axis 2, block 0
    0x39D1C099u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 7
    0x2958D91Cu,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 7
    0x36FDCB05u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 2, block 7
    0xB1248C37u,  // FLOAT8_E4M3FN to FLOAT32, axis 2, block 7
    0xA5957A6Bu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 5
    0x161585A8u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 5
    0xDA045524u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 1, block 5
    0xCCC23B4Au,  // FLOAT8_E4M3FN to FLOAT32, axis 1, block 5
    0xB73435C4u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 3
    0x51EB21A1u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 3
    0xB5C65C55u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT32, axis 0, block 3
    0x94F96A2Bu,  // FLOAT8_E4M3FN to FLOAT32, axis 0, block 3
    0x8711D367u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis None, block 0
    0x8711D367u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis None, block 0
    0xDE0AF56Fu,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis None, block 0
    0x73E6E173u,  // FLOAT8_E4M3FN to FLOAT16, axis None, block 0
    0xC58E7442u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 0
    0xC58E7442u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 0
    0xAB3EBA8Cu,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 0
    0xA0E4D7C4u,  // FLOAT8_E4M3FN to FLOAT16, axis 0, block 0
    0x5D4AA3CAu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 0
    0x5D4AA3CAu,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 0
    0x379E185Au,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 0
    0xA65C200Eu,  // FLOAT8_E4M3FN to FLOAT16, axis 1, block 0
    0xF8565271u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 0
    0xF8565271u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 0
    0xE88E520Du,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 0
    0x5AEE5070u,  // FLOAT8_E4M3FN to FLOAT16, axis 2, block 0
    0x54E69EDDu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 7
    0x54E69EDDu,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 7
    0x36FDCB05u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 2, block 7
    0xE980EB7Fu,  // FLOAT8_E4M3FN to FLOAT16, axis 2, block 7
    0x9F8F7F19u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 5
    0x9F8F7F19u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 5
    0xDA045524u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 1, block 5
    0x06A1964Fu,  // FLOAT8_E4M3FN to FLOAT16, axis 1, block 5
    0x5C640FD8u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 3
    0x5C640FD8u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 3
    0xB5C65C55u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale FLOAT16, axis 0, block 3
    0x735AD8B6u,  // FLOAT8_E4M3FN to FLOAT16, axis 0, block 3
    0x04D3D145u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis None, block 0
    0xDDF33FEAu,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis None, block 0
    0x04D3D145u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis None, block 0
    0x2065DD7Fu,  // FLOAT8_E4M3FN to BFLOAT16, axis None, block 0
    0x6DAF7E77u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 0
    0x8B147762u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 0
    0x6DAF7E77u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 0
    0x4717F5F8u,  // FLOAT8_E4M3FN to BFLOAT16, axis 0, block 0
    0x4E3B4787u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 0
    0x1C67E8E8u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 0
    0x4E3B4787u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 0
    0x9330D169u,  // FLOAT8_E4M3FN to BFLOAT16, axis 1, block 0
    0x2A4C4CA2u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 0
    0x044627AAu,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 0
    0x2A4C4CA2u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 0
    0xB682108Au,  // FLOAT8_E4M3FN to BFLOAT16, axis 2, block 0
    0x95A943EAu,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 7
    0xC91DEA50u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 7
    0x95A943EAu,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 2, block 7
    0x56F944B0u,  // FLOAT8_E4M3FN to BFLOAT16, axis 2, block 7
    0x556270B5u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 5
    0x5BBD4EC9u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 5
    0x556270B5u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 1, block 5
    0x11BD43E1u,  // FLOAT8_E4M3FN to BFLOAT16, axis 1, block 5
    0x66934B38u,  // FLOAT32 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 3
    0x89C7EDE6u,  // FLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 3
    0x66934B38u,  // BFLOAT16 to FLOAT8_E4M3FN, y_scale BFLOAT16, axis 0, block 3
    0x9D29F834u,  // FLOAT8_E4M3FN to BFLOAT16, axis 0, block 3
    0x4233C702u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis None, block 0
    0x5F4BB7ACu,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis None, block 0
    0xE53009EFu,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis None, block 0
    0xE03523C5u,  // FLOAT8_E5M2 to FLOAT32, axis None, block 0
    0x8A449CE0u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 0
    0x6363985Fu,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 0
    0xA792F7EEu,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 0
    0xD8AC70B0u,  // FLOAT8_E5M2 to FLOAT32, axis 0, block 0
    0xFB220C7Du,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 0
    0x8DB654E1u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 0
    0x056D3A58u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 0
    0x16136649u,  // FLOAT8_E5M2 to FLOAT32, axis 1, block 0
    0x2AB10452u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 0
    0xC5C23760u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 0
    0x89AD98F3u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 0
    0x16C31005u,  // FLOAT8_E5M2 to FLOAT32, axis 2, block 0
    0x4554E507u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 7
    0xD4251B55u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 7
    0x30CD924Fu,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 2, block 7
    0xE6E854B7u,  // FLOAT8_E5M2 to FLOAT32, axis 2, block 7
    0x10341D9Du,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 5
    0x31C5578Cu,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 5
    0x8A449D01u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 1, block 5
    0x50D7A108u,  // FLOAT8_E5M2 to FLOAT32, axis 1, block 5
    0x7E90BBAFu,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 3
    0xEC0FCF44u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 3
    0xFFF47483u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT32, axis 0, block 3
    0x5EE9E84Cu,  // FLOAT8_E5M2 to FLOAT32, axis 0, block 3
    0xB54C7068u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis None, block 0
    0xB54C7068u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis None, block 0
    0xD9EB8FE0u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis None, block 0
    0xA6B2FBB1u,  // FLOAT8_E5M2 to FLOAT16, axis None, block 0
    0x0F512895u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 0
    0x0F512895u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 0
    0x22E88392u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 0
    0x5A3BFDDEu,  // FLOAT8_E5M2 to FLOAT16, axis 0, block 0
    0xB954C05Du,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 0
    0xB954C05Du,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 0
    0x8E7F0A74u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 0
    0x4AA5931Fu,  // FLOAT8_E5M2 to FLOAT16, axis 1, block 0
    0xEE9945B5u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 0
    0xEE9945B5u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 0
    0xC823F45Eu,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 0
    0x89D18D6Du,  // FLOAT8_E5M2 to FLOAT16, axis 2, block 0
    0x9B413CD1u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 7
    0x9B413CD1u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 7
    0xEE557B9Fu,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 2, block 7
    0x63805C2Du,  // FLOAT8_E5M2 to FLOAT16, axis 2, block 7
    0x9A529E3Au,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 5
    0x9A529E3Au,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 5
    0x6654DE65u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 1, block 5
    0xF72A0B09u,  // FLOAT8_E5M2 to FLOAT16, axis 1, block 5
    0x864C7DD7u,  // FLOAT32 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 3
    0x864C7DD7u,  // FLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 3
    0xB5193632u,  // BFLOAT16 to FLOAT8_E5M2, y_scale FLOAT16, axis 0, block 3
    0x04384F32u,  // FLOAT8_E5M2 to FLOAT16, axis 0, block 3
    0x9061FA8Cu,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis None, block 0
    0x9061FA8Cu,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis None, block 0
    0x9061FA8Cu,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis None, block 0
    0x15CE0186u,  // FLOAT8_E5M2 to BFLOAT16, axis None, block 0
    0x01710CAFu,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 0
    0x673BD845u,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 0
    0x01710CAFu,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 0
    0xC9495A7Bu,  // FLOAT8_E5M2 to BFLOAT16, axis 0, block 0
    0xFA38C68Fu,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 0
    0x4340FB82u,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 0
    0xFA38C68Fu,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 0
    0xAB405243u,  // FLOAT8_E5M2 to BFLOAT16, axis 1, block 0
    0x58764FD3u,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 0
    0x5DE26356u,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 0
    0x58764FD3u,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 0
    0x0B33E95Fu,  // FLOAT8_E5M2 to BFLOAT16, axis 2, block 0
    0xB775AC4Eu,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 7
    0xAC157D01u,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 7
    0xB775AC4Eu,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 2, block 7
    0x6160F889u,  // FLOAT8_E5M2 to BFLOAT16, axis 2, block 7
    0x4F5727F6u,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 5
    0xF62F1AFBu,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 5
    0x4F5727F6u,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 1, block 5
    0x53A8F1DBu,  // FLOAT8_E5M2 to BFLOAT16, axis 1, block 5
    0x2D1B0820u,  // FLOAT32 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 3
    0x73DC3FEAu,  // FLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 3
    0x2D1B0820u,  // BFLOAT16 to FLOAT8_E5M2, y_scale BFLOAT16, axis 0, block 3
    0x30E4CB1Bu,  // FLOAT8_E5M2 to BFLOAT16, axis 0, block 3
    0x57562A05u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis None, block 0
    0xF7CB45A0u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis None, block 0
    0x42E97650u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis None, block 0
    0x75466D1Au,  // FLOAT8_E4M3FNUZ to FLOAT32, axis None, block 0
    0xF55476C0u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 0
    0xDDF18732u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 0
    0x3C62D526u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 0
    0xAC1102FDu,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 0, block 0
    0x97ABF1C6u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 0
    0xE159B3D0u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 0
    0x96E832B6u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 0
    0xE8BE23DDu,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 1, block 0
    0x302D98CBu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 0
    0xA6706C73u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 0
    0x8CFE6E53u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 0
    0x7F3C3B2Cu,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 2, block 0
    0x93452278u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 7
    0xF230ABB3u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 7
    0x095C9E62u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 2, block 7
    0xF3680411u,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 2, block 7
    0xAB993277u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 5
    0xCD20EC38u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 5
    0xC7A3EE93u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 1, block 5
    0xB36754F2u,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 1, block 5
    0x5B577294u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 3
    0x7FE250CAu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 3
    0x613C2B55u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT32, axis 0, block 3
    0xC06BC7EEu,  // FLOAT8_E4M3FNUZ to FLOAT32, axis 0, block 3
    0x784EA3FEu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis None, block 0
    0x784EA3FEu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis None, block 0
    0x42E97650u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis None, block 0
    0x5BDD171Fu,  // FLOAT8_E4M3FNUZ to FLOAT16, axis None, block 0
    0xB7F2787Du,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 0
    0xB7F2787Du,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 0
    0x3C62D526u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 0
    0xB7DE32B9u,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 0, block 0
    0xDEA5CD6Eu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 0
    0xDEA5CD6Eu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 0
    0x96E832B6u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 0
    0xE2F46C4Du,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 1, block 0
    0xDC803B8Eu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 0
    0xDC803B8Eu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 0
    0x8CFE6E53u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 0
    0x7E5EF6FFu,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 2, block 0
    0xF8353000u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 7
    0xF8353000u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 7
    0x095C9E62u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 2, block 7
    0xB1251FF1u,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 2, block 7
    0x9599FB8Du,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 5
    0x9599FB8Du,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 5
    0xC7A3EE93u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 1, block 5
    0xC6FFCFB7u,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 1, block 5
    0xA65EF8EBu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 3
    0xA65EF8EBu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 3
    0x613C2B55u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale FLOAT16, axis 0, block 3
    0x31D14396u,  // FLOAT8_E4M3FNUZ to FLOAT16, axis 0, block 3
    0x7D574699u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis None, block 0
    0x13024839u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis None, block 0
    0x7D574699u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis None, block 0
    0xD29A8882u,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis None, block 0
    0xC2F813ACu,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 0
    0x24431AB9u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 0
    0xC2F813ACu,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 0
    0x0540DB7Eu,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 0, block 0
    0x5B6EDF58u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 0
    0x01CF5B5Du,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 0
    0x5B6EDF58u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 0
    0xAD00B086u,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 1, block 0
    0x7C50E475u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 0
    0xE5353504u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 0
    0x7C50E475u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 0
    0xB76109D8u,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 2, block 0
    0x1B69F9A6u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x1B69F9A6u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x1B69F9A6u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x021061BAu,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 2, block 7
    0x58BDB04Du,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 5
    0x64DE3B72u,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 5
    0x58BDB04Du,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 1, block 5
    0x19177D7Fu,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 1, block 5
    0xA666D024u,  // FLOAT32 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 3
    0x493276FAu,  // FLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 3
    0xA666D024u,  // BFLOAT16 to FLOAT8_E4M3FNUZ, y_scale BFLOAT16, axis 0, block 3
    0xE93F5014u,  // FLOAT8_E4M3FNUZ to BFLOAT16, axis 0, block 3
    0xB31EE016u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis None, block 0
    0x19EB5C4Du,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis None, block 0
    0xA4740FEDu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis None, block 0
    0xE03523C5u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis None, block 0
    0x7B17C70Du,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 0
    0x6439EFDEu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 0
    0x3676457Bu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 0
    0xD8AC70B0u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 0, block 0
    0x02FC7640u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 0
    0x96136E6Fu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 0
    0xC84C2BB8u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 0
    0x16136649u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 1, block 0
    0x82F36CE3u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 0
    0x3693AF7Fu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 0
    0x0E928F61u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 0
    0x16C31005u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 2, block 0
    0x4C037EADu,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 7
    0xE713572Cu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 7
    0x91677F50u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 2, block 7
    0xE6E854B7u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 2, block 7
    0xA48773D3u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 5
    0xC62FF00Bu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 5
    0x286DF956u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 1, block 5
    0x50D7A108u,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 1, block 5
    0x67ED0E96u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 3
    0xBD5FCC9Du,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 3
    0x0BA737BEu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT32, axis 0, block 3
    0x5EE9E84Cu,  // FLOAT8_E5M2FNUZ to FLOAT32, axis 0, block 3
    0x40490E6Eu,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis None, block 0
    0x40490E6Eu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis None, block 0
    0x1B70BD13u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis None, block 0
    0xA6B2FBB1u,  // FLOAT8_E5M2FNUZ to FLOAT16, axis None, block 0
    0xD5A73544u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 0
    0xD5A73544u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 0
    0xB643DF6Eu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 0
    0x5A3BFDDEu,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 0, block 0
    0x3178F8F1u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 0
    0x3178F8F1u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 0
    0xEEA2CB45u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 0
    0x4AA5931Fu,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 1, block 0
    0xEC87E111u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 0
    0xEC87E111u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 0
    0x955A4F5Fu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 0
    0x89D18D6Du,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 2, block 0
    0x866C1A2Du,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 7
    0x866C1A2Du,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 7
    0xC1FBF208u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 2, block 7
    0x63805C2Du,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 2, block 7
    0xAA241A36u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 5
    0xAA241A36u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 5
    0x6CAC7D95u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 1, block 5
    0xF72A0B09u,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 1, block 5
    0x30396DF6u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 3
    0x30396DF6u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 3
    0x53AD3244u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale FLOAT16, axis 0, block 3
    0x04384F32u,  // FLOAT8_E5M2FNUZ to FLOAT16, axis 0, block 3
    0xD125FC8Eu,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis None, block 0
    0xD125FC8Eu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis None, block 0
    0xD125FC8Eu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis None, block 0
    0x15CE0186u,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis None, block 0
    0xD4DE58CBu,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 0
    0xB2948C21u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 0
    0xD4DE58CBu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 0
    0xC9495A7Bu,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 0, block 0
    0x5683BDA2u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 0
    0xEFFB80AFu,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 0
    0x5683BDA2u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 0
    0xAB405243u,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 1, block 0
    0xC457D8D5u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 0
    0x1E78D57Du,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 0
    0xC457D8D5u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 0
    0x0B33E95Fu,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 2, block 0
    0x8CCF57B0u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x9794BEC9u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x8CCF57B0u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 2, block 7
    0x6160F889u,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 2, block 7
    0xBF19BEBAu,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 5
    0x066183B7u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 5
    0xBF19BEBAu,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 1, block 5
    0x53A8F1DBu,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 1, block 5
    0x06EA8845u,  // FLOAT32 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 3
    0x37D329B6u,  // FLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 3
    0x06EA8845u,  // BFLOAT16 to FLOAT8_E5M2FNUZ, y_scale BFLOAT16, axis 0, block 3
    0x30E4CB1Bu,  // FLOAT8_E5M2FNUZ to BFLOAT16, axis 0, block 3
    0x78657877u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis None, block 0
    0x4F05C75Eu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis None, block 0
    0x4451D981u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis None, block 0
    0x5AAA776Bu,  // FLOAT4_E2M1 to FLOAT32, axis None, block 0
    0x5B880B68u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 0
    0x917ACE4Cu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 0
    0x4FF9A78Cu,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 0
    0x0F425254u,  // FLOAT4_E2M1 to FLOAT32, axis 0, block 0
    0x867035DBu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 0
    0xCE861768u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 0
    0x16AE4D76u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 0
    0xEAD31063u,  // FLOAT4_E2M1 to FLOAT32, axis 1, block 0
    0x3FC918EEu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 0
    0x5E02A9BDu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 0
    0x3AE48536u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 0
    0x5DEF3CA8u,  // FLOAT4_E2M1 to FLOAT32, axis 2, block 0
    0x451DF6BBu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 7
    0xD877DC8Eu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 7
    0xA948014Eu,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 2, block 7
    0xBE110310u,  // FLOAT4_E2M1 to FLOAT32, axis 2, block 7
    0xC425D666u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 5
    0x584DF608u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 5
    0xF841A957u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 1, block 5
    0xDE1E523Au,  // FLOAT4_E2M1 to FLOAT32, axis 1, block 5
    0x1AAB65A6u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 3
    0x9A5FAF69u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 3
    0xA9E9B200u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT32, axis 0, block 3
    0x3F49542Cu,  // FLOAT4_E2M1 to FLOAT32, axis 0, block 3
    0x4F05C75Eu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis None, block 0
    0x4F05C75Eu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis None, block 0
    0x4451D981u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis None, block 0
    0xB8CA35B7u,  // FLOAT4_E2M1 to FLOAT16, axis None, block 0
    0x917ACE4Cu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 0
    0x917ACE4Cu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 0
    0x4FF9A78Cu,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 0
    0x0FD36514u,  // FLOAT4_E2M1 to FLOAT16, axis 0, block 0
    0xCE861768u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 0
    0xCE861768u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 0
    0x16AE4D76u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 0
    0xE9D07862u,  // FLOAT4_E2M1 to FLOAT16, axis 1, block 0
    0x5E02A9BDu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 0
    0x5E02A9BDu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 0
    0x3AE48536u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 0
    0x0E13A2E9u,  // FLOAT4_E2M1 to FLOAT16, axis 2, block 0
    0xD877DC8Eu,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 7
    0xD877DC8Eu,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 7
    0xA948014Eu,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 2, block 7
    0x2F36D165u,  // FLOAT4_E2M1 to FLOAT16, axis 2, block 7
    0x584DF608u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 5
    0x584DF608u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 5
    0xF841A957u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 1, block 5
    0xB7FFE766u,  // FLOAT4_E2M1 to FLOAT16, axis 1, block 5
    0x9A5FAF69u,  // FLOAT32 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 3
    0x9A5FAF69u,  // FLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 3
    0xA9E9B200u,  // BFLOAT16 to FLOAT4_E2M1, y_scale FLOAT16, axis 0, block 3
    0x99C3FB94u,  // FLOAT4_E2M1 to FLOAT16, axis 0, block 3
    0x4451D981u,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis None, block 0
    0x8726E6E5u,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis None, block 0
    0x4451D981u,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis None, block 0
    0xD39166FBu,  // FLOAT4_E2M1 to BFLOAT16, axis None, block 0
    0x4FF9A78Cu,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 0
    0x4FF9A78Cu,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 0
    0x4FF9A78Cu,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 0
    0xFA1335F3u,  // FLOAT4_E2M1 to BFLOAT16, axis 0, block 0
    0x16AE4D76u,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 0
    0x16AE4D76u,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 0
    0x16AE4D76u,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 0
    0xFDD98F17u,  // FLOAT4_E2M1 to BFLOAT16, axis 1, block 0
    0x3AE48536u,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 0
    0x3AE48536u,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 0
    0x3AE48536u,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 0
    0x98C94C50u,  // FLOAT4_E2M1 to BFLOAT16, axis 2, block 0
    0xA948014Eu,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 7
    0xA948014Eu,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 7
    0xA948014Eu,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 2, block 7
    0x7FCDB41Du,  // FLOAT4_E2M1 to BFLOAT16, axis 2, block 7
    0xF841A957u,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 5
    0xF841A957u,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 5
    0xF841A957u,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 1, block 5
    0xEF80373Bu,  // FLOAT4_E2M1 to BFLOAT16, axis 1, block 5
    0xA9E9B200u,  // FLOAT32 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 3
    0x6A9E8D64u,  // FLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 3
    0xA9E9B200u,  // BFLOAT16 to FLOAT4_E2M1, y_scale BFLOAT16, axis 0, block 3
    0xDF123A45u,  // FLOAT4_E2M1 to BFLOAT16, axis 0, block 3
};
