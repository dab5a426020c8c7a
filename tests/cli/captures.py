# SPDX-License-Identifier: Apache-2.0
"""Graph captures of ttnn, built node by node as tt-metal's graph_l1_traces have them: measured on a
p150b with 11 x 10 cores."""

GRID = '{"start":{"x":0,"y":0},"end":{"x":7,"y":7}'  # ttnn's ShardSpec leaves out the last brace
SHARDED = ("MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,"
           f"shard_spec=ShardSpec{{grid=[{GRID}], shape=[32, 512], "
           "orientation=ShardOrientation::ROW_MAJOR},nd_shard_spec={\"shard_shape\":[32, 512],"
           f"\"grid\":[{GRID}}}],\"orientation\":\"ShardOrientation::ROW_MAJOR\","
           "\"shard_distribution_strategy\":\"ShardDistributionStrategy::ROUND_ROBIN_1D\"},"
           "created_with_nd_shard_spec=0,per_core_allocation=0)")


def interleaved(pool):
    return (f"MemoryConfig(memory_layout=TensorMemoryLayout::INTERLEAVED,buffer_type=BufferType::{pool},"
            "shard_spec=std::nullopt,nd_shard_spec=std::nullopt,created_with_nd_shard_spec=0,"
            "per_core_allocation=0)")


class Capture:
    """A list of nodes. Edges are added with connect()."""

    def __init__(self):
        self.nodes = []
        self.add("capture_start", None, 0)

    def add(self, kind, params, level, arguments=(), inputs=()):
        self.nodes.append({"arguments": list(arguments), "connections": [], "counter": len(self.nodes),
                           "input_tensors": list(inputs), "node_type": kind, "params": params,
                           "stacking_level": level})
        return len(self.nodes) - 1

    def connect(self, begin, *ends):
        self.nodes[begin]["connections"].extend(ends)

    def tensor(self, number, address, config, shape=(1, 1, 2048, 512), size=2097152, pool=1,
               dtype="BFLOAT16", layout="TILE", level=2):
        return self.add("tensor", {
            "address": address, "buffer_type": pool, "device_id": 1,
            "device_tensors": f'[{{"address":{address},"device_id":0,"mesh_device_id":1}}]',
            "dtype": f"DataType::{dtype}", "layout": f"Layout::{layout}", "memory_config": config,
            "shape": f"Shape({list(shape)})", "size": size, "tensor_id": number}, level)

    def buffer(self, layout, size=2097152, pool=1, level=2):
        return self.add("buffer", {"buffer_type": pool, "device_id": 1, "layout": layout, "size": size,
                                   "type": "L1" if pool else "DRAM"}, level)

    def allocate(self, buffer, address, per_bank, cores, page_size=2048, size=2097152, layout=None,
                 pool=1):
        node = self.add("buffer_allocate", {
            "address": address, "buffer_type": pool, "device_id": 1,
            "layout": layout or self.nodes[buffer]["params"]["layout"], "max_size_per_bank": per_bank,
            "num_cores": cores, "page_size": page_size, "size": size, "type": "L1" if pool else "DRAM"},
            3)
        self.connect(node, buffer)
        return node

    def circular(self, address, size, cores, backed):
        return self.add("circular_buffer_allocate", {
            "address": address, "core_range_set": cores, "device_id": 0,
            "globally_allocated": "1" if backed else "0", "size": size}, 2)

    def begin(self, name, level, inputs="0", arguments=(), tensors=()):
        return self.add("function_start", {"inputs": inputs, "name": name}, level, arguments, tensors)

    def end(self, name, level, *connections):
        node = self.add("function_end", {"name": name}, level)
        self.nodes[node]["duration_ns"] = 1
        self.connect(node, *connections)
        return node


def sharded_add(in_place=False):
    """sharded_add.json, sharded_add_in_place.json: without dispatch, so that addresses of what is
    allocated inside are 0."""
    c = Capture()
    a_address, b_address = (1474560, 1441792) if in_place else (1540096, 1507328)
    c.begin("ttnn.add", 1)
    first = 3
    c.begin("BinaryNgDeviceOperation", 2, "2", [
        "operation_attributes_t(BinaryOpType::ADD, SmallVector([]), SmallVector([]), SmallVector([]), "
        f"std::nullopt, {SHARDED}, DataType::BFLOAT16, DataType::BFLOAT16, <CoreRangeSet>)", "{}"],
            [first, first + 2] + ([first] if in_place else []))
    c.tensor(7, a_address, SHARDED)
    a = c.buffer("HEIGHT_SHARDED")
    c.tensor(9, b_address, SHARDED)
    b = c.buffer("HEIGHT_SHARDED")
    c.connect(a, first)
    c.connect(b, first + 2)
    if not in_place:
        c.begin("tt::tt_metal::create_device_tensor", 3, "5", [f"Shape([1, 1, 2048, 512])"])
        y = c.buffer("HEIGHT_SHARDED")
        c.allocate(y, 0, 32768, 64)
        c.end("tt::tt_metal::create_device_tensor", 3)
        c.connect(y, c.tensor(11, 0, SHARDED, level=3))
    c.add("circular_buffer_deallocate_all", {"device_id": 1}, 2)
    for _ in range(3):
        c.circular(0, 32768, "{[0-0 - 10-9]}", True)
    end = c.end("BinaryNgDeviceOperation", 2)
    c.connect(end, c.tensor(7, a_address, SHARDED) if in_place else c.tensor(11, 0, SHARDED))
    c.end("ttnn.add", 1)
    c.add("capture_end", None, 0)
    return c.nodes


def matmul():
    """matmul_normal_mode.json: a tensor in DRAM times itself, the result in L1."""
    c = Capture()
    attributes = (f"MatmulParams(<variant>, 1, {interleaved('L1')}, DataType::BFLOAT16, "
                  "ComputeKernelConfig(math_fidelity=HiFi2,math_approx_mode=0,fp32_dest_acc_en=0,"
                  "packer_l1_acc=1,dst_full_sync_en=0), 0, std::nullopt, std::nullopt, 0, 0, 0, "
                  "Tile(tile_shape={32, 32},face_shape={16, 16},num_faces=4), std::nullopt)")
    shape = (1, 1, 1024, 1024)
    c.begin("ttnn.matmul", 1)
    c.begin("MatmulDeviceOperation", 2, "2", [attributes, "{}"], [3, 3])
    c.tensor(1, 5848704, interleaved("DRAM"), shape, pool=0)
    x = c.buffer("INTERLEAVED", pool=0)
    c.connect(x, 3)
    y = c.buffer("INTERLEAVED")
    c.allocate(y, 1552384, 20480, 0)
    c.connect(y, c.tensor(5, 1552384, interleaved("L1"), shape))
    c.add("circular_buffer_deallocate_all", {"device_id": 1}, 2)
    for address, size in ((111616, 131072), (242688, 131072), (373760, 524288)):
        c.circular(address, size, "{[0-0 - 1-1]}", False)
    binaries = c.buffer("INTERLEAVED", 22528, 0)
    c.allocate(binaries, 4278185984, 4096, 0, size=22528, pool=0)
    end = c.end("MatmulDeviceOperation", 2)
    c.connect(end, c.tensor(5, 1552384, interleaved("L1"), shape))
    c.end("ttnn.matmul", 1)
    c.add("capture_end", None, 0)
    return c.nodes


def on_103_cores(height, width):
    """A config of conv2d.json, of a newer release, which has one key more."""
    spec = '[{"start":{"x":0,"y":0},"end":{"x":10,"y":8}%s, {"start":{"x":0,"y":9},"end":{"x":3,"y":9}%s]'
    return ("MemoryConfig(memory_layout=TensorMemoryLayout::HEIGHT_SHARDED,buffer_type=BufferType::L1,"
            f"shard_spec=ShardSpec{{grid={spec % ('', '')}, shape=[{height}, {width}], "
            f"orientation=ShardOrientation::ROW_MAJOR}},nd_shard_spec={{\"shard_shape\":[{height}, {width}],"
            f"\"grid\":{spec % ('}', '}')},\"orientation\":\"ShardOrientation::ROW_MAJOR\","
            "\"shard_distribution_strategy\":\"ShardDistributionStrategy::ROUND_ROBIN_1D\"},"
            "created_with_nd_shard_spec=0,per_core_allocation=0,range_lockstep_allocation=0)")


DRAM = interleaved("DRAM")[:-1] + ",range_lockstep_allocation=0)"


def rows_to_shards():
    """The first program of conv2d.json: the input has no address of its own, the output is allocated
    before the program and is its second input."""
    c = Capture()
    shards, shape, size = on_103_cores(160, 32), (1, 1, 16384, 32), 1048576
    y = c.buffer("HEIGHT_SHARDED", 1054720)
    c.allocate(y, 0, 10240, 103, 64, 1054720)
    output = c.tensor(11, 0, shards, shape, size, layout="ROW_MAJOR")
    c.connect(y, output)
    begin = c.begin("InterleavedToShardedDeviceOperation", 2, "2", [
        f"InterleavedToShardedParams({shards}, DataType::BFLOAT16, 0)", "{}"])
    x = c.tensor(9, 5848704, DRAM, shape, size, pool=0, layout="ROW_MAJOR")
    for key in ("address", "buffer_type", "device_id"):
        del c.nodes[x]["params"][key]
    c.nodes[begin]["input_tensors"] = [x, output]
    c.add("circular_buffer_deallocate_all", {"device_id": 1}, 2)
    c.circular(0, 10240, "{[0-0 - 10-8], [0-9 - 3-9]}", True)
    c.circular(0, 512, "{[0-0 - 10-8], [0-9 - 3-9]}", False)
    end = c.end("InterleavedToShardedDeviceOperation", 2)
    c.connect(end, c.tensor(11, 0, shards, shape, size, layout="ROW_MAJOR"))
    c.add("capture_end", None, 0)
    return c.nodes


def shards_to_tiles():
    """The last programs of conv2d.json: the result of Conv2d, which qdq does not rebuild, goes to DRAM
    through a dataflow buffer that borrows its shards."""
    c = Capture()
    shape = (1, 1, 16384, 64)
    c.begin("Conv2dDeviceOperation", 2)
    x = c.buffer("HEIGHT_SHARDED")
    c.allocate(x, 0, 20480, 103)
    end = c.end("Conv2dDeviceOperation", 2)
    made = c.tensor(37, 0, on_103_cores(160, 64), shape)
    c.connect(x, made)
    c.connect(end, made)
    c.begin("ShardedToInterleavedDeviceOperation", 2, "2", [
        f"ShardedToInterleavedParams({DRAM}, DataType::BFLOAT16, 1, 0)", "{}"], [made])
    y = c.buffer("INTERLEAVED", pool=0)
    c.allocate(y, 0, 262144, 0, pool=0)
    c.add("circular_buffer_deallocate_all", {"device_id": 1}, 2)
    c.add("dataflow_buffer_allocate", {"address": 0, "borrows_memory": "1", "device_id": 1, "size": 20480,
                                       "core_range_set": "{[0-0 - 10-8], [0-9 - 3-9]}"}, 2)
    end = c.end("ShardedToInterleavedDeviceOperation", 2)
    result = c.tensor(41, 0, DRAM, shape, pool=0)
    c.connect(y, result)
    c.connect(end, result)
    for buffer in (x, y):
        c.connect(c.add("buffer_deallocate", {}, 2), buffer)
    c.add("capture_end", None, 0)
    return c.nodes


def unknown_results(count=200):
    """Programs of an unknown op, each of which allocates 20,480 bytes of each bank at the top of L1,
    and an Add of each, after which both tensors die: all together they would never fit."""
    c = Capture()
    config, shape = interleaved("L1"), (1, 1, 1024, 1024)
    for i in range(count):
        y = c.buffer("INTERLEAVED")
        c.begin("HaloDeviceOperation", 2)
        c.allocate(y, 1552384, 20480, 0)
        end = c.end("HaloDeviceOperation", 2)
        x = c.tensor(100 + i, 1552384, config, shape)
        c.connect(y, x)
        c.connect(end, x)
        c.begin("BinaryNgDeviceOperation", 2, "2", [
            "operation_attributes_t(BinaryOpType::ADD, SmallVector([]), SmallVector([]), SmallVector([]), "
            f"std::nullopt, {config}, DataType::BFLOAT16)", "{}"], [x, x])
        z = c.buffer("INTERLEAVED")
        c.allocate(z, 1531904, 20480, 0)
        for address in (111616, 115712, 119808):
            c.circular(address, 4096, "{[0-0 - 10-9]}", False)
        end = c.end("BinaryNgDeviceOperation", 2)
        result = c.tensor(1000 + i, 1531904, config, shape)
        c.connect(z, result)
        c.connect(end, result)
        for buffer in (y, z):
            c.connect(c.add("buffer_deallocate", {}, 1), buffer)
    c.add("capture_end", None, 0)
    return c.nodes
