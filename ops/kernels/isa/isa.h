// SPDX-License-Identifier: Apache-2.0
// Names the functions of the files in this folder. They are compiled once for each instruction set;
// meson.build names the set in QDQ_KERNEL_ISA.
#ifndef QDQ_OPS_KERNELS_ISA_ISA_H
#define QDQ_OPS_KERNELS_ISA_ISA_H

#define QDQ_ISA_JOIN(name, isa) qdq_##name##_##isa
#define QDQ_ISA_EXPAND(name, isa) QDQ_ISA_JOIN(name, isa)
#define QDQ_ISA_NAME(name) QDQ_ISA_EXPAND(name, QDQ_KERNEL_ISA)

#endif
