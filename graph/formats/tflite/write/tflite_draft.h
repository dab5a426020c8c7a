// SPDX-License-Identifier: Apache-2.0
// A TensorFlow Lite model in the making. The units of the graph are found first (tflite_units.h),
// then writers of ops add operators and tensors, and the encoder reads them. Everything lies in the
// draft's mempool, which remembers that memory ran out.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_DRAFT_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_DRAFT_H

#include "graph/core/graph.h"

// The numbers of operators that are written.
typedef enum qdq_tflite_code {
    TFLITE_ADD = 0,
    TFLITE_AVERAGE_POOL_2D = 1,
    TFLITE_CONCATENATION = 2,
    TFLITE_CONV_2D = 3,
    TFLITE_DEPTHWISE_CONV_2D = 4,
    TFLITE_DEPTH_TO_SPACE = 5,
    TFLITE_DEQUANTIZE = 6,
    TFLITE_FLOOR = 8,
    TFLITE_FULLY_CONNECTED = 9,
    TFLITE_LOGISTIC = 14,
    TFLITE_MAX_POOL_2D = 17,
    TFLITE_MUL = 18,
    TFLITE_RELU = 19,
    TFLITE_RELU_N1_TO_1 = 20,
    TFLITE_RELU6 = 21,
    TFLITE_RESHAPE = 22,
    TFLITE_RESIZE_BILINEAR = 23,
    TFLITE_SOFTMAX = 25,
    TFLITE_SPACE_TO_DEPTH = 26,
    TFLITE_TANH = 28,
    TFLITE_PAD = 34,
    TFLITE_TRANSPOSE = 39,
    TFLITE_MEAN = 40,
    TFLITE_SUB = 41,
    TFLITE_DIV = 42,
    TFLITE_SQUEEZE = 43,
    TFLITE_STRIDED_SLICE = 45,
    TFLITE_EXP = 47,
    TFLITE_SPLIT = 49,
    TFLITE_PRELU = 54,
    TFLITE_MAXIMUM = 55,
    TFLITE_MINIMUM = 57,
    TFLITE_NEG = 59,
    TFLITE_PADV2 = 60,
    TFLITE_SLICE = 65,
    TFLITE_SIN = 66,
    TFLITE_TRANSPOSE_CONV = 67,
    TFLITE_EXPAND_DIMS = 70,
    TFLITE_LOG = 73,
    TFLITE_SUM = 74,
    TFLITE_SQRT = 75,
    TFLITE_RSQRT = 76,
    TFLITE_POW = 78,
    TFLITE_REDUCE_MAX = 82,
    TFLITE_REDUCE_MIN = 89,
    TFLITE_SQUARE = 92,
    TFLITE_RESIZE_NEAREST = 97,
    TFLITE_LEAKY_RELU = 98,
    TFLITE_ABS = 101,
    TFLITE_SPLIT_V = 102,
    TFLITE_CEIL = 104,
    TFLITE_COS = 108,
    TFLITE_ELU = 111,
    TFLITE_QUANTIZE = 114,
    TFLITE_ROUND = 116,
    TFLITE_HARD_SWISH = 117,
    TFLITE_BATCH_MATMUL = 126,
    TFLITE_CALL_ONCE = 129,
    TFLITE_VAR_HANDLE = 142,
    TFLITE_READ_VARIABLE = 143,
    TFLITE_ASSIGN_VARIABLE = 144,
    TFLITE_GELU = 150,
    TFLITE_RELU_0_TO_1 = 152,
    TFLITE_SIGN = 158,
} qdq_tflite_code;

enum { TFLITE_RESOURCE = 13, TFLITE_NO_TENSOR = -1, TFLITE_MOST_OPTIONS = 8 };

//---- Parts of a model -------------------------------------------------------

// Scales and zero points, as many of each; along `axis` if there are several. No scales: none.
typedef struct qdq_tflite_params {
    const float *scales;
    const int64_t *zps;
    size_t count;
    int axis;
} qdq_tflite_params;

// The order in which the elements of a constant are written: dim i is dim order[i] of the graph's.
typedef struct qdq_tflite_turn {
    bool given;
    int order[4];  // of 2 or 4 dims
} qdq_tflite_turn;

typedef struct qdq_tflite_new_tensor {
    const char *name;
    qdq_type type;
    bool resource;  // a handle, which has no dtype
    qdq_tflite_params params;
    const qdq_graph_value *value;  // a constant of the graph, or NULL
    const void *data;              // elements of another constant, or NULL
    qdq_tflite_turn turn;
    struct qdq_tflite_new_tensor *next;  // of the same constant, in another form
    int32_t index;
} qdq_tflite_new_tensor;

// A field of an operator's options.
typedef struct qdq_tflite_option {
    unsigned slot;
    char kind;  // 'b': a byte, 'i': an int, 'f': a float, 'l': the list, 't': the text
    double number;
} qdq_tflite_option;

typedef struct qdq_tflite_operator {
    qdq_tflite_code code;
    int version, kind;  // of the options; 0: none
    int32_t *inputs, *outputs;
    size_t input_count, output_count;
    qdq_tflite_option options[TFLITE_MOST_OPTIONS];
    size_t option_count;
    const int32_t *list;
    size_t list_count;
    const char *text;
} qdq_tflite_operator;

#define TFLITE_LIST(type) \
    struct {              \
        type *items;      \
        size_t count;     \
        size_t capacity;  \
    }

// A subgraph: the main one, or the one that gives variables their first elements.
typedef struct qdq_tflite_subgraph {
    const char *name;
    TFLITE_LIST(qdq_tflite_new_tensor *) tensors;
    TFLITE_LIST(qdq_tflite_operator *) operators;
    TFLITE_LIST(int32_t) inputs;
    TFLITE_LIST(int32_t) outputs;
    TFLITE_LIST(const char *) output_names;  // in the signature
} qdq_tflite_subgraph;

typedef struct qdq_tflite_draft {
    const qdq_graph *graph;
    qdq_mempool *mempool;
    qdq_findings *findings;
    qdq_tflite_subgraph main, initial;
    qdq_tflite_subgraph *to;         // that operators and tensors are added to
    qdq_symbols *taken;              // names of tensors
    unsigned renamed;                // numbers given to names
    struct qdq_tflite_unit *units;   // by node
    size_t *reader_counts, *reader;  // by value: uses by nodes, and the last node
    bool *needed;                    // by value: an operator or an output reads its tensor
    qdq_tflite_params **params;      // by value that is no constant; NULL: none known
    qdq_tflite_new_tensor **made;    // by value: its tensors
    const char **names;              // by value: of inputs and outputs; NULL: the value's
    int32_t *handles;                // of variables, by state
    qdq_tflite_operator spare;       // stand for new ones when memory has run out
    qdq_tflite_new_tensor spare_tensor;
} qdq_tflite_draft;

// Appends an item of a type to a list of the draft, unless memory runs out.
#define TFLITE_APPEND(draft, list, type, item)                                       \
    do {                                                                             \
        void *grown = qdq_mempool_grow((draft)->mempool, (list).items, (list).count, \
                                       &(list).capacity, sizeof(type));              \
        if (grown) (list).items = grown, (list).items[(list).count++] = (item);      \
    } while (0)

//---- The node that is being written -----------------------------------------

typedef struct qdq_tflite_writer {
    qdq_tflite_draft *draft;
    const qdq_node *node;
    struct qdq_tflite_unit *unit;
    const struct qdq_tflite_writer_row *row;
    bool refused;
} qdq_tflite_writer;

// Reports that the node cannot be written: `port`, an attribute or NULL, FOUND, wanted WANTED. Only
// the first report of a node counts.
void qdq_tflite_cannot(qdq_tflite_writer *w, const char *port, const char *found,
                       const char *wanted);
#define TFLITE_FOUND(w, ...) qdq_text((w)->draft->findings, __VA_ARGS__)

//---- Tensors ----------------------------------------------------------------

// Takes a name for a tensor: `wanted`, or one like it that is free.
const char *qdq_tflite_take_name(qdq_tflite_draft *draft, const char *wanted);
// Returns "y/helper" for the node.
const char *qdq_tflite_helper_name(qdq_tflite_writer *w, const char *helper);

bool qdq_tflite_params_equal(const qdq_tflite_params *a, const qdq_tflite_params *b);

// Returns the tensor of a value. A constant has one for each set of parameters and each order;
// `params` NULL: none, or the ones of a value that is no constant.
int32_t qdq_tflite_tensor_of(qdq_tflite_writer *w, uint32_t value, const qdq_tflite_params *params,
                             const qdq_tflite_turn *turn);
// Adds a tensor that no value of the graph has, named "y/helper".
int32_t qdq_tflite_new(qdq_tflite_writer *w, const char *helper, qdq_type type,
                       const qdq_tflite_params *params);
// Adds a handle of a variable.
int32_t qdq_tflite_new_handle(qdq_tflite_writer *w, const char *name);
// Adds constants of int32: a list of numbers in rows of `columns` (0: one dim), or a scalar.
int32_t qdq_tflite_new_ints(qdq_tflite_writer *w, const char *helper, const int64_t *numbers,
                            size_t count, size_t columns);
int32_t qdq_tflite_new_int(qdq_tflite_writer *w, const char *helper, int64_t number);
// Adds a constant with these elements, which the draft keeps.
int32_t qdq_tflite_new_constant(qdq_tflite_writer *w, const char *helper, qdq_type type,
                                const void *data, const qdq_tflite_params *params);

// Returns the format's number for a dtype; -1: it has none.
int qdq_tflite_type_of(qdq_dtype dtype);

//---- Operators --------------------------------------------------------------

// Adds an operator, with the kind of its options.
qdq_tflite_operator *qdq_tflite_emit(qdq_tflite_writer *w, qdq_tflite_code code, int kind);
void qdq_tflite_add_input(qdq_tflite_writer *w, qdq_tflite_operator *op, int32_t tensor);
void qdq_tflite_add_output(qdq_tflite_writer *w, qdq_tflite_operator *op, int32_t tensor);
// Set an option.
void qdq_tflite_option_byte(qdq_tflite_operator *op, unsigned slot, int number);
void qdq_tflite_option_int(qdq_tflite_operator *op, unsigned slot, int64_t number);
void qdq_tflite_option_float(qdq_tflite_operator *op, unsigned slot, double number);
void qdq_tflite_option_list(qdq_tflite_writer *w, qdq_tflite_operator *op, unsigned slot,
                            const int64_t *numbers, size_t count);
void qdq_tflite_option_text(qdq_tflite_operator *op, unsigned slot, const char *text);

#endif
