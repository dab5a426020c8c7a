# Printed by `qdq help --completion bash`; do not edit.
_qdq() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local words='' options='' files=yes
    COMPREPLY=()
    case $COMP_CWORD:${COMP_WORDS[1]} in
    1:*)
        words='run check compare explain bisect plan bench convert mend fingerprint calibrate merge quantize ops targets help'
        options='--help --version'
        ;;
    *:run)
        words=''
        options='--input --shape --dim --until --output --expect --tolerance --rows --target --threads --tiled --keep --materialize --device --fast --literal --float-storage --fill --isa --json --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        -e | --expect) options='' words='' files=yes ;;
        --tolerance) options='' words='' files='' ;;
        --rows) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --keep) options='' words='all NAME,NAME' files='' ;;
        --device) options='' words='' files=yes ;;
        --float-storage) options='' words='bfloat16 declared' files='' ;;
        --fill) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:check)
        words=''
        options='--shape --dim --until --target --all --strict --device --json --sarif --html --max-elements --max-bytes --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao all' files='' ;;
        --device) options='' words='' files=yes ;;
        --html) options='' words='' files=yes ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:compare)
        words=''
        options='--input --shape --dim --until --output --data --shard --resume --checkpoint --targets --all --threads --device --fast --literal --fill --isa --json --html --max-elements --max-bytes --spill --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        --data) options='' words='' files='' ;;
        --shard) options='' words='' files='' ;;
        --checkpoint) options='' words='' files='' ;;
        --targets) options='' words='' files='' ;;
        --threads) options='' words='' files='' ;;
        --device) options='' words='' files=yes ;;
        --fill) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --html) options='' words='' files=yes ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --spill) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:explain)
        words=''
        options='--input --shape --dim --until --got --against --output --data --shard --resume --checkpoint --target --threads --fill --isa --json --html --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        --got) options='' words='' files=yes ;;
        --against) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        --data) options='' words='' files='' ;;
        --shard) options='' words='' files='' ;;
        --checkpoint) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --fill) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --html) options='' words='' files=yes ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:bisect)
        words=''
        options='--input --shape --dim --until --target --targets --threads --fill --isa --json --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --targets) options='' words='' files='' ;;
        --threads) options='' words='' files='' ;;
        --fill) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:plan)
        words=''
        options='--shape --dim --until --target --tiled --keep --materialize --device --fast --literal --float-storage --map --emit-c --pages --memory-csv --trace --json --html --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --keep) options='' words='all NAME,NAME' files='' ;;
        --device) options='' words='' files=yes ;;
        --float-storage) options='' words='bfloat16 declared' files='' ;;
        --emit-c) options='' words='' files=yes ;;
        --pages) options='' words='' files='' ;;
        --memory-csv) options='' words='' files='' ;;
        --trace) options='' words='' files=yes ;;
        --html) options='' words='' files=yes ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:bench)
        words=''
        options='--shape --dim --until --target --threads --tiled --keep --materialize --device --fast --literal --float-storage --fill --repeat --vs-copy --steps --compile --isa --json --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --keep) options='' words='all NAME,NAME' files='' ;;
        --device) options='' words='' files=yes ;;
        --float-storage) options='' words='bfloat16 declared' files='' ;;
        --fill) options='' words='' files='' ;;
        --repeat) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:convert)
        words=''
        options='--shape --dim --until --output --target --deployed --max-elements --max-bytes --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:mend)
        words=''
        options='--input --shape --dim --until --output --target --all --fill --allow-lossy --json --max-elements --max-bytes --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --fill) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:fingerprint)
        words=''
        options='--shape --dim --until --target --threads --tiled --materialize --device --seed --expect-fingerprint --isa --json --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --device) options='' words='' files=yes ;;
        --seed) options='' words='' files='' ;;
        --expect-fingerprint) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:calibrate)
        words=''
        options='--shape --dim --until --output --data --shard --resume --checkpoint --target --threads --isa --max-elements --max-bytes --spill --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        --data) options='' words='' files='' ;;
        --shard) options='' words='' files='' ;;
        --checkpoint) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --spill) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:merge)
        words=''
        options='--output --partial --all --json --quiet --help'
        case $previous in
        -o | --output) options='' words='' files=yes ;;
        esac
        ;;
    *:quantize)
        words=''
        options='--input --shape --dim --until --output --state --method --percentile --symmetric --weights --per-tensor --group --keep --data --target --all --threads --fill --isa --json --max-elements --max-bytes --max-operations --max-file-bytes --max-values --quiet --help'
        case $previous in
        -i | --input) options='' words='' files=yes ;;
        --shape) options='' words='' files='' ;;
        --dim) options='' words='' files='' ;;
        --until) options='' words='' files='' ;;
        -o | --output) options='' words='' files=yes ;;
        --state) options='' words='' files='' ;;
        --method) options='' words='' files='' ;;
        --percentile) options='' words='' files='' ;;
        --weights) options='' words='' files='' ;;
        --group) options='' words='' files='' ;;
        --keep) options='' words='' files='' ;;
        --data) options='' words='' files='' ;;
        -t | --target) options='' words='core onnx ort onednn tensorrt tripy ttnn torchao' files='' ;;
        --threads) options='' words='' files='' ;;
        --fill) options='' words='' files='' ;;
        --isa) options='' words='' files='' ;;
        --max-elements) options='' words='' files='' ;;
        --max-bytes) options='' words='' files='' ;;
        --max-operations) options='' words='' files='' ;;
        --max-file-bytes) options='' words='' files='' ;;
        --max-values) options='' words='' files='' ;;
        esac
        ;;
    *:ops)
        words='Quantize Dequantize DynamicQuantize Requantize Cast Abs Exp Log Sqrt Square Tanh Sigmoid ReLU Reciprocal Round IsNaN Not BitwiseNot HardSwish Mish Sign Floor Ceil Erf Softplus Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh Atanh IsInf LeakyReLU Elu HardSigmoid Clamp GELU Add Subtract Multiply Divide Minimum Maximum Pow Equal Greater GreaterEqual Less LessOrEqual And Or Xor BitwiseAnd BitwiseOr BitwiseXor BitShift Mod Select BiasAdd PReLU MatMul Convolution ConvTranspose SoftMax LogSoftmax LayerNorm RMSNorm GroupNorm BatchNormInference BatchNormForwardTraining ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum CumSum ArgMax ArgMin TopK MatMulInteger ConvInteger QLinearMatMul MatMulIntegerToFloat QGemm MatMulNBits QLinearConv QLinearAdd QLinearMul QLinearAveragePool QLinearGlobalAveragePool QLinearSoftmax AvgPool MaxPool Interpolate Concat StaticReshape StaticTranspose Reorder ToMemoryConfig InterleavedToSharded ShardedToInterleaved Reshard ToLayout GenIndex Slice Pad Expand Tile Gather GatherElements GatherND ScatterElements ScatterND DepthToSpace SpaceToDepth Trilu EyeLike OneHot Dropout'
        options='--dtypes --schema --markdown --json --help'
        case $previous in
        esac
        ;;
    *:targets)
        words='core onnx ort onednn tensorrt tripy ttnn torchao'
        options='--markdown --json --help'
        case $previous in
        esac
        ;;
    *:help)
        words='run check compare explain bisect plan bench convert mend fingerprint calibrate merge quantize ops targets help'
        options='--man --completion --help'
        case $previous in
        --completion) options='' words='bash zsh fish' files='' ;;
        esac
        ;;
    esac
    [[ $current == -* ]] && words=$options
    [ -n "$files" ] || compopt +o default
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _qdq qdq
