# SPDX-License-Identifier: MIT
"""Random graphs: kernels, fills, copies and calls of the host in the order of their edges, graphs within graphs, and conditional nodes.

A node reads and writes words of the device and of the host. Two that meet there have an edge between them, or a path, so every order that the
edges allow has one result; the model runs the nodes in one of these orders. The graph is launched as it is, with nodes of the executable changed
or disabled, and updated from a graph whose nodes were changed.
"""

import copy
import ctypes

from cuda import *

WORDS, HOST_WORDS = 24, 12
IF, WHILE, SWITCH = range(3)
CONDITIONAL = 13  # cudaGraphNodeType

TEXT = """.version 8.3
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);
.visible .entry combine(.param .u64 words, .param .u32 to, .param .u32 from, .param .u32 factor, .param .u32 more)
{
	.reg .b64 %d<6>; .reg .b32 %r<9>;
	ld.param.u64 %d0, [words]; ld.param.u32 %r0, [to]; ld.param.u32 %r1, [from]; ld.param.u32 %r2, [factor]; ld.param.u32 %r3, [more];
	mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d0;
	ld.global.u32 %r4, [%d1]; ld.global.u32 %r5, [%d2]; mad.lo.u32 %r4, %r4, %r2, %r5; add.u32 %r4, %r4, %r3; st.global.u32 [%d1], %r4;
	ret;
}
.visible .entry choose(.param .u64 words, .param .u32 by, .param .u64 handle, .param .u32 shift, .param .u32 mask)
{
	.reg .b64 %d<6>; .reg .b32 %r<9>;
	ld.param.u64 %d0, [words]; ld.param.u32 %r0, [by]; ld.param.u64 %d3, [handle]; ld.param.u32 %r2, [shift]; ld.param.u32 %r3, [mask];
	mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d1, %d0;
	ld.global.u32 %r4, [%d1]; shr.u32 %r4, %r4, %r2; st.global.u32 [%d1], %r4; and.b32 %r4, %r4, %r3;
	{
		.param .b64 p0; .param .b32 p1;
		st.param.b64 [p0], %d3; st.param.b32 [p1], %r4;
		call.uni cudaGraphSetConditional, (p0, p1);
	}
	ret;
}
"""


class Node:
    def __init__(self, kind, **members):
        self.kind, self.after, self.enabled = kind, [], True
        self.__dict__.update(members)

    def touches(self):
        """The words, of the device, of the host, and of handles, that it reads and those that it writes."""
        if self.kind == "combine":
            return {("device", self.from_)}, {("device", self.to)}
        if self.kind == "choose":
            return {("device", self.by)}, {("handle", self.handle)} | ({("device", self.by)} if self.shift else set())
        if self.kind == "fill":
            return set(), {("device", self.to + row * self.pitch + x) for row in range(self.height) for x in range(self.width)}
        if self.kind == "copy":
            return {(self.from_[0], self.from_[1] + i) for i in range(self.n)}, {(self.to[0], self.to[1] + i) for i in range(self.n)}
        if self.kind == "host":
            return set(), {("host", self.to)}
        reads, writes = {("handle", self.handle)} if self.kind == "condition" else set(), set()
        for graph in self.graphs:
            for node in graph.nodes:
                more = node.touches()
                reads, writes = reads | more[0], writes | more[1]
        return reads, writes


class Graph:
    def __init__(self):
        self.nodes, self.defaults = [], {}

    def link(self, draw):
        """Edges between all nodes that meet, without those that others stand for."""
        for i, node in enumerate(self.nodes):
            reads, writes = node.touches()
            before = set()
            node.after = []
            for other in reversed(self.nodes[:i]):
                other_reads, other_writes = other.touches()
                if other not in before and (writes & (other_reads | other_writes) or reads & other_writes or draw.random() < .05):
                    node.after.append(other)
                    before |= {other} | ancestors(other)


def ancestors(node):
    found = set(node.after)
    for other in node.after:
        found |= ancestors(other)
    return found


def draw_simple(draw):
    kind = draw.choice(("combine", "combine", "combine", "fill", "copy", "host"))
    if kind == "combine":
        return Node(kind, to=draw.randrange(WORDS), from_=draw.randrange(WORDS), factor=draw.choice((1, 2, 3, 5)), more=draw.randrange(100))
    if kind == "fill":
        width, height = draw.randrange(1, 5), draw.randrange(1, 4)
        return Node(kind, to=draw.randrange(4), width=width, height=height, pitch=width + draw.randrange(2), value=draw.randrange(1 << 32))
    if kind == "host":
        return Node(kind, to=draw.randrange(HOST_WORDS), factor=draw.choice((1, 3)), more=draw.randrange(50))
    n, (to, from_) = draw.randrange(1, 5), draw.choice((("device", "device"), ("device", "host"), ("host", "device")))
    limit = {"device": WORDS, "host": HOST_WORDS}
    at = draw.randrange(limit[to] // 2 - n + 1), draw.randrange(limit[from_] // 2, limit[from_] - n + 1)
    return Node(kind, to=(to, at[0]), from_=(from_, at[1]), n=n)


def draw_graph(draw, handles, depth=0, repeats=False):
    """`handles`: how many there are, in a list, to be counted on. `repeats`: it may run several times in a launch."""
    graph = Graph()
    for _ in range(draw.randrange(1, 7)):
        what = draw.choice(("simple", "simple", "simple", "graph", IF, SWITCH, WHILE)) if depth < 3 else "simple"
        if what == "simple":
            graph.nodes.append(draw_simple(draw))
        elif what == "graph":
            graph.nodes.append(Node("graph", graphs=[draw_graph(draw, handles, depth + 1, repeats)]))
        else:
            draw_condition(draw, graph, what, handles, depth, repeats)
    graph.link(draw)
    return graph


def draw_condition(draw, graph, what, handles, depth, repeats):
    handle, by, shift = handles[0], draw.randrange(WORDS), 0
    handles[0] += 1
    graph.defaults[handle] = None if what == WHILE else draw.choice((None, 0, 1, 2))
    bodies = [draw_graph(draw, handles, depth + 1, repeats or what == WHILE) for _ in range(1 if what == WHILE else draw.randrange(1, 3))]
    if what == WHILE:  # a word that nothing else writes there is divided until it is 0
        bodies[0].nodes = [node for node in bodies[0].nodes if ("device", by) not in node.touches()[1]]
        bodies[0].nodes.append(Node("choose", by=by, handle=handle, shift=8, mask=WORD))
        bodies[0].link(draw)
    if graph.defaults[handle] is None or repeats or draw.random() < .5:
        graph.nodes.append(Node("choose", by=by, handle=handle, shift=shift, mask=WORD if what == WHILE else draw.choice((1, 3))))
    graph.nodes.append(Node("condition", handle=handle, choice=what, graphs=bodies))


def has_conditions(graph):
    return any(node.kind == "condition" or (node.kind == "graph" and has_conditions(node.graphs[0])) for node in graph.nodes)


# ---- the model ----


class State:
    def __init__(self, draw):
        self.device = [draw.choice((draw.randrange(1 << 32), draw.randrange(9))) for _ in range(WORDS)]
        self.host = [draw.randrange(1 << 32) for _ in range(HOST_WORDS)]
        self.handles = {}

    def launch(self, graph):
        self.set_defaults(graph)
        self.run(graph)

    def set_defaults(self, graph):
        self.handles.update((handle, value) for handle, value in graph.defaults.items() if value is not None)
        for node in graph.nodes:
            for inner in getattr(node, "graphs", ()):
                self.set_defaults(inner)

    def run(self, graph):
        for node in graph.nodes:
            if node.enabled:
                getattr(self, "run_" + node.kind)(node)

    def run_combine(self, node):
        self.device[node.to] = (self.device[node.to] * node.factor + self.device[node.from_] + node.more) & WORD

    def run_choose(self, node):
        self.device[node.by] >>= node.shift
        self.handles[node.handle] = self.device[node.by] & node.mask

    def run_fill(self, node):
        for row in range(node.height):
            at = node.to + row * node.pitch
            self.device[at:at + node.width] = [node.value] * node.width

    def run_copy(self, node):
        to, from_ = getattr(self, node.to[0]), getattr(self, node.from_[0])
        to[node.to[1]:node.to[1] + node.n] = from_[node.from_[1]:node.from_[1] + node.n]

    def run_host(self, node):
        self.host[node.to] = (self.host[node.to] * node.factor + node.more) & WORD

    def run_graph(self, node):
        self.run(node.graphs[0])

    def run_condition(self, node):
        if node.choice == WHILE:
            while self.handles[node.handle]:
                self.run(node.graphs[0])
            return
        value = self.handles[node.handle]
        chosen = value if node.choice == SWITCH else int(value == 0)
        if chosen < len(node.graphs):
            self.run(node.graphs[chosen])


# ---- the calls ----


class Program:
    """The memory of the nodes, and the graphs as CUDA has them."""

    def __init__(self):
        module = load(TEXT)
        self.functions = {name: function(module, name) for name in ("combine", "choose")}
        self.device = new("cudaMalloc", 4 * WORDS)
        self.host = (c_uint * HOST_WORDS)()
        self.kept, self.handles = [], {}

    def address(self, place):
        return (self.device if place[0] == "device" else ctypes.addressof(self.host)) + 4 * place[1]

    def parameters(self, node):
        """What a call takes that adds the node or changes it."""
        if node.kind == "combine":
            values = [c_uint64(self.device)] + [c_uint(v) for v in (node.to, node.from_, node.factor, node.more)]
        elif node.kind == "choose":
            values = [c_uint64(self.device), c_uint(node.by), c_uint64(self.handles[node.handle]), c_uint(node.shift), c_uint(node.mask)]
        elif node.kind == "fill":
            return [byref(Fill(self.device + 4 * node.to, 4 * node.pitch, node.value, 4, node.width, node.height))]
        elif node.kind == "copy":
            return [c_void_p(self.address(node.to)), c_void_p(self.address(node.from_)), 4 * node.n, c_int(BY_ADDRESS)]
        else:
            return [byref(HostCall(self.callback(node), None))]
        self.kept.append(pointers(values))
        arguments = ctypes.cast(self.kept[-1], c_void_p).value
        return [byref(Kernel(self.functions[node.kind], (c_uint * 3)(1, 1, 1), (c_uint * 3)(1, 1, 1), 0, arguments))]

    def callback(self, node):
        def act(_, to=node.to, factor=node.factor, more=node.more):
            self.host[to] = (self.host[to] * factor + more) & WORD

        self.kept.append(ctypes.CFUNCTYPE(None, c_void_p)(act))
        return ctypes.cast(self.kept[-1], c_void_p).value

    ADD = {"combine": "cuGraphAddKernelNode_v2", "choose": "cuGraphAddKernelNode_v2", "fill": "cudaGraphAddMemsetNode",
           "copy": "cudaGraphAddMemcpyNode1D", "host": "cudaGraphAddHostNode", "graph": "cudaGraphAddChildGraphNode"}
    CHANGE = {"combine": "cuGraphKernelNodeSetParams_v2", "fill": "cudaGraphMemsetNodeSetParams", "host": "cudaGraphHostNodeSetParams"}
    CHANGE_EXECUTABLE = {"combine": "cuGraphExecKernelNodeSetParams_v2", "fill": "cudaGraphExecMemsetNodeSetParams",
                         "host": "cudaGraphExecHostNodeSetParams"}

    def build(self, graph, to=None):
        """Makes the graph, or the body `to`. The nodes have their handles in `made`."""
        made = to or new("cudaGraphCreate", c_uint(0))
        for handle, value in graph.defaults.items():
            self.handles[handle] = new("cudaGraphConditionalHandleCreate", c_void_p(made), c_uint(value or 0), c_uint(value is not None))
        for node in graph.nodes:
            after = (c_void_p * len(node.after))(*[other.made for other in node.after])
            if node.kind == "condition":
                condition = Condition(type=CONDITIONAL, handle=self.handles[node.handle], choice=node.choice, size=len(node.graphs))
                node.made = new("cudaGraphAddNode", c_void_p(made), after, c_void_p(0), len(after), byref(condition))
                for i, body in enumerate(node.graphs):
                    self.build(body, condition.bodies[i])
                continue
            child = self.build(node.graphs[0]) if node.kind == "graph" else None
            node.made = new(self.ADD[node.kind], c_void_p(made), after, len(after), *([c_void_p(child)] if child else self.parameters(node)))
            if child:
                must("cudaGraphDestroy", c_void_p(child))
        return made

    def launch(self, executable, state):
        self.host[:] = state.host
        upload(b"".join(word.to_bytes(4, "little") for word in state.device), self.device)
        must("cudaGraphLaunch", c_void_p(executable), c_void_p(0))
        must("cudaDeviceSynchronize")

    def result(self):
        words = download(self.device, 4 * WORDS)
        return [int.from_bytes(words[i:i + 4], "little") for i in range(0, len(words), 4)], list(self.host)


program = None


def changed(draw, node):
    """A node with other parameters that touches the same words."""
    other = copy.copy(node)
    if node.kind == "fill":
        other.value = draw.randrange(1 << 32)
    else:
        other.more = draw.randrange(1000)
    return other


def free_memory():
    free, total = c_size_t(), c_size_t()
    must("cudaMemGetInfo", byref(free), byref(total))
    return free.value


def check(draw):
    """The launches of one graph. Returns how many, and the differences."""
    global program
    program = program or Program()
    program.kept.clear()
    graph, differences, launches = draw_graph(draw, [0]), [], 0

    def compare(executable, model, what):
        nonlocal launches
        state = State(draw)
        program.launch(executable, state)
        state.launch(model)
        launches += 1
        if program.result() != (state.device, state.host):
            differences.append("%s: %s, expected %s" % (what, program.result(), (state.device, state.host)))

    free = free_memory()
    made = program.build(graph)
    executable = new("cudaGraphInstantiate", c_void_p(made), c_uint64(0))
    compare(executable, graph, "a launch")
    compare(executable, graph, "the second launch")
    model = copy.deepcopy(graph)
    for node in model.nodes:
        if node.kind in program.CHANGE and draw.random() < .5:
            node.__dict__.update(changed(draw, node).__dict__)
            must(program.CHANGE_EXECUTABLE[node.kind], c_void_p(executable), c_void_p(node.made), *program.parameters(node))
        if node.kind in ("combine", "fill", "copy") and draw.random() < .2:
            must("cudaGraphNodeSetEnabled", c_void_p(executable), c_void_p(node.made), c_uint(0))
            node.enabled = False
    compare(executable, model, "a changed executable")
    if not has_conditions(graph):
        for node in graph.nodes:
            if node.kind in program.CHANGE:
                node.__dict__.update(changed(draw, node).__dict__)
                must(program.CHANGE[node.kind], c_void_p(node.made), *program.parameters(node))
        must("cudaGraphExecUpdate", c_void_p(executable), c_void_p(made), (c_void_p * 4)())
        for node, other in zip(graph.nodes, model.nodes):
            node.enabled = other.enabled
        compare(executable, graph, "an updated executable")
    must("cudaGraphDestroy", c_void_p(made))
    must("cudaGraphExecDestroy", c_void_p(executable))
    if free_memory() != free:
        differences.append("%d bytes are lost" % (free - free_memory()))
    return launches, differences
