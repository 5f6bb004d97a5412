# SPDX-License-Identifier: MIT
"""gdb's view of a program that uses Relock: doc/debugging.md.

A section runs on the stack of another thread than the one that asked for it. This lets `bt` go on
into the frames of that one, and adds the commands relock who, relock locks and relock servers. It
reads the process or core only, by what the runtime says of itself (debug/layout.h), and calls
nothing in it.

The backtrace. A runner's record has its runs: each lies in the frame of the function that called
the section (struct relock_run), so that the frame is known without symbols. Who asked for the
section waits in the runtime, on the stack of its own or, within another section, of that section's
runner; its registers are those of the first frame outside the runtime. gdb cannot look at another
thread while it unwinds one. So all that is found out as soon as the process stops, and the unwinder
then needs a look into a table.
"""

import re

import gdb
import gdb.frames
import gdb.unwinder
from gdb.FrameDecorator import FrameDecorator

LAYOUT_VERSION = 1

# What a function keeps for its caller, by the names of gdb's architectures. The first two of the
# passed ones are relock_asked_for_by's, see layout.c; then the stack pointer and program counter.
REGISTERS = {
    "i386:x86-64": (["rbx", "rbp", "r12", "r13", "r14", "r15"], ["rax", "rdx"], "rsp", "rip"),
    "aarch64": (["x%d" % i for i in range(19, 30)], ["x0", "x1"], "sp", "pc"),
}


class NoRuntime(gdb.GdbError):
    """There is no runtime, or no process."""


# --- memory -----------------------------------------------------------------------------------


def read(address, size):
    data = gdb.selected_inferior().read_memory(address, size)
    return int.from_bytes(bytes(data), "little")


def text_at(address):
    text = b""
    while address and len(text) < 256:
        byte = bytes(gdb.selected_inferior().read_memory(address + len(text), 1))
        if byte == b"\0":
            break
        text += byte
    return text.decode("utf-8", "replace")


class Layout:
    """The runtime's own description of its data."""

    def __init__(self):
        try:
            self.address = int(gdb.parse_and_eval("&relock_debug_layout"))
        except gdb.error:
            raise NoRuntime("relock: no librelock in this program, or one without symbols")
        if not gdb.selected_inferior().pid:
            raise NoRuntime("relock: there is no process to look at")
        self._read_entries()

    def _read_entries(self):
        version = read(self.address, 4)
        if version != LAYOUT_VERSION:
            raise NoRuntime(
                "relock: this script knows version %d of the runtime's data, and the program has "
                "version %d; use the script that was installed with its library"
                % (LAYOUT_VERSION, version)
            )
        self.value = {}
        size = read(self.address + 8, 4)
        for i in range(read(self.address + 4, 4)):
            entry = self.address + 16 + i * size
            name, value = text_at(entry), read(entry + size - 8, 8)
            if name:
                self.value[name] = value

    def __getitem__(self, name):
        return self.value[name]

    def member(self, address, name, size=8):
        return read(address + self.value[name], size)


# --- what the runtime's data say ---------------------------------------------------------------


class Record:
    """A thread that uses the runtime."""

    def __init__(self, layout, address):
        def get(name, size=8):
            return layout.member(address, "thread." + name, size)

        self.address = address
        self.stack, self.stack_end = get("stack"), get("stack_end")
        self.tid, self.tag = get("tid", 4), get("tag", 2)
        self.running, self.waits, self.sleeps = get("running"), get("waits"), get("sleeps")
        self.serves, self.client_number = get("rcl_serves"), get("rcl_number", 4)
        self.thread = None  # gdb's

    def has_on_stack(self, address):
        return self.stack_end <= address < self.stack_end + self.stack

    def __str__(self):
        if not self.thread:
            return "a thread that is gone (LWP %d)" % self.tid
        return "Thread %d" % self.thread.num


class Run:
    """A section that runs for another thread."""

    def __init__(self, state, address):
        layout = state.layout
        self.address, self.request = address, layout.member(address, "run.request")
        self.outer = layout.member(address, "run.outer")
        self.runner = state.on_stack(address)
        if self.request:
            how = layout.member(self.request, "request.result", 4)
            self.client = state.numbered(how >> layout["number_shift"])
            self.as_client = bool(how & layout["as_client"])
            self.submitted = bool(how & layout["submitted"])
            self.section = state.section_of(self.request)
            self.mutex = None


class Wait:
    """A thread waits for a mutex."""

    def __init__(self, state, address):
        self.mutex = state.layout.member(address, "wait.mutex")
        self.outer = state.layout.member(address, "wait.outer")
        self.stack = state.on_stack(address)


class State:
    """All that the runtime's data say at one stop."""

    MOST = 64  # of anything that is nested: the data may be damaged

    def __init__(self):
        self.layout = layout = Layout()
        threads = {t.ptid[1] or t.ptid[0]: t for t in gdb.selected_inferior().threads()}
        first, size = read(layout["records"], 8), layout["thread.size"]
        count = read(layout["records_end"], 4) if first else 0
        self.by_number = [Record(layout, first + i * size) for i in range(count)]
        self.records = [r for r in self.by_number if r.stack_end]
        for record in self.records:
            record.thread = threads.get(record.tid)
        self.servers = self._servers()
        self.waits = {r: self._waits(r) for r in self.records}
        self.runs = [run for record in self.records for run in self._runs(record)]
        for run in self.runs:
            run.mutex = self._mutex_of(run)

    def on_stack(self, address):
        """Those threads' stacks that are read from limits may be larger than they are, and so
        overlap: the nearest one is it."""
        found = [r for r in self.records if r.has_on_stack(address)]
        return min(found, key=lambda r: r.stack_end + r.stack - address) if found else None

    def numbered(self, number):
        return self.by_number[number] if number < len(self.by_number) else None

    def section_of(self, request):
        """As relock_section_asked_for()."""
        layout = self.layout
        section = layout.member(request, "request.section")
        context = request + layout["request.context"]
        for i in range(layout["wrappers_end"]):
            wrapper = layout["wrappers"] + i * layout["wrapper.size"]
            if layout.member(wrapper, "wrapper.runs") == section:
                if layout.member(wrapper, "wrapper.by_pointer", 1):
                    context = read(context, 8)
                return read(context + layout.member(wrapper, "wrapper.section"), 8)
        return section

    def _chain(self, address, kind):
        chain, known = [], set()
        try:
            while address and address not in known and len(chain) < self.MOST:
                known.add(address)
                chain.append(kind(self, address))
                address = chain[-1].outer
        except gdb.MemoryError:
            pass  # what could be read
        return chain

    def _waits(self, record):
        """Outermost first."""
        return [w for w in self._chain(record.waits, Wait) if w.stack][::-1]

    def _runs(self, record):
        runs = [r for r in self._chain(record.running, Run) if r.runner]
        servicer = self.servicer_of(record)
        if servicer and not servicer.mutex:  # it says what it ran last
            runs = [r for r in runs if r.outer or r.runner is not record]
        return [r for r in runs if r.request and r.client]

    def _mutex_of(self, run):
        servicer = self.servicer_of(run.runner)
        if servicer and not run.outer and self.is_slot(run.request):
            return servicer.mutex
        if self.is_slot(run.request):
            return self.layout.member(run.request, "request.mutex")
        waits = self.waits.get(run.client, [])
        path = self._path(run.client)
        asker = self.asker(run)
        at = [w for w in waits if w.stack is asker]
        return at[-1].mutex if at and path else None

    def _path(self, client):
        """The stacks that a thread's identity has gone along, its own first: on each but the last
        it waits."""
        path = [client]
        for wait in self.waits.get(client, []):
            if wait.stack is not path[-1]:
                path.append(wait.stack)
        return path

    def asker(self, run):
        """On whose stack it is waited for that section; None: on no one's."""
        if run.submitted:
            return None
        path = self._path(run.client)
        others = [r for r in self.runs if r.client is run.client and r.as_client and r is not run]
        if run.as_client and run.runner in path[1:]:
            return path[path.index(run.runner) - 1]
        beyond = [r.runner for r in others if r.runner not in path]
        return beyond[-1] if beyond and not run.as_client else path[-1]

    # --- servers

    def _servers(self):
        layout, servers = self.layout, []
        for i in range(min(read(layout["servers_end"], 4), self.MOST)):
            address = layout["servers"] + i * layout["server.size"]
            if layout.member(address, "server.slots"):
                servers.append(Server(self, address, i + 1))
        return servers

    def servicer_of(self, record):
        for server in self.servers:
            for servicer in server.servicers:
                if record and servicer.record is record:
                    return servicer
        return None

    def is_slot(self, request):
        return any(s.slots <= request < s.slots + s.slots_size for s in self.servers)

    # --- mutexes

    def class_of(self, mutex):
        return self.layout.member(mutex, "mutex.lock_class") or self.layout["default_class"]

    def class_text(self, mutex):
        lock_class, layout = self.class_of(mutex), self.layout
        ops = layout.member(lock_class, "class.relock_ops")
        algorithm = text_at(layout.member(ops, "algorithm.name")) if ops else "not used yet"
        return "class %s, %s" % (text_at(layout.member(lock_class, "class.name")), algorithm)

    def is_held(self, mutex):
        word = self.layout.member(mutex, "mutex.word", 4)
        return self.layout["word_free"] < word < self.layout["word_served"]

    def runs_under(self, mutex):
        return [run for run in self.runs if run.mutex == mutex]

    def holder(self, mutex):
        """Who has it, as a record; None: unknown, or nobody."""
        holder = self.layout.member(mutex, "mutex.holder", 2)
        return next((r for r in self.records if holder and r.tag == holder), None)

    def is_executing(self, mutex):
        return self.layout.member(mutex, "mutex.executing", 1) & self.layout["executing_bits"]

    def waiting_for(self, record):
        """The mutex that a thread waits for last of all, and None or its section's address."""
        waits = self.waits.get(record, [])
        asked = [(s, slot) for s in self.servers for slot in s.asked_by(self, record)]
        if asked and not (waits and self.is_held(waits[-1].mutex) and len(waits) > len(asked)):
            slot = asked[-1][1]
            return self.layout.member(slot, "request.mutex"), self.section_of(slot)
        return (waits[-1].mutex, None) if waits else None


class Servicer:
    """A thread of a server."""

    def __init__(self, state, address):
        layout = state.layout
        record = layout.member(address, "servicer.record")
        self.record = next((r for r in state.records if r.address == record), None)
        self.active = layout.member(address, "servicer.state", 4) == layout["servicer_active"]
        self.sections = layout.member(address, "servicer.sections")
        self.mutex = layout.member(address, "servicer.runs_under")


class Server:
    def __init__(self, state, address, number):
        layout = state.layout

        def get(name, size):
            return layout.member(address, "server." + name, size)

        self.number, self.slots = number, get("slots", 8)
        self.slot_size = layout["slot.size"]
        self.slots_size = 1024 * self.slot_size
        self.running = get("state", 4) == layout["server_running"]
        self.refused = get("state", 4) == layout["server_refused"]
        self.cpu = get("cpu", 4) if get("cpu", 4) < 1 << 31 else None
        self.realtime, self.asleep = get("realtime", 4), get("asleep", 4)
        first, size = address + layout["server.servicer"], layout["servicer.size"]
        self.servicers = [Servicer(state, first + i * size) for i in range(get("places", 4))]

    def asked_by(self, state, record):
        """Its slot there, if it has a request in it."""
        if not record.client_number:
            return []
        slot = self.slots + (record.client_number - 1) * self.slot_size
        pending = state.layout.member(slot, "request.state", 4) % 2
        return [slot] if pending else []


# --- how things are called ---------------------------------------------------------------------


def name_at(address):
    """The name of what lies there, and how far behind its begin; or None."""
    try:
        text = gdb.execute("info symbol 0x%x" % address, to_string=True)
    except gdb.error:
        return None
    match = re.match(r"(\S+)(?: \+ (\d+))? in section", text)
    return (match[1], int(match[2] or 0)) if match else None


def symbol(address):
    name = name_at(address)
    if not name:
        return "0x%x" % address
    return "%s+%d" % name if name[1] else name[0]


def function_at(pc):
    name = name_at(pc)
    return pc - name[1] if name else None


def lock_text(mutex):
    return symbol(mutex) if mutex else "an unknown lock"


# --- the stacks --------------------------------------------------------------------------------


def physical(frame):
    """The frame and those that called it, without functions that were put in place."""
    known = 0
    while frame and known < 10000:
        if frame.type() != gdb.INLINE_FRAME:
            yield frame
        known += 1
        frame = frame.older()


def register(frame, name):
    try:
        return int(frame.read_register(name)) & 0xFFFFFFFFFFFFFFFF
    except (gdb.error, ValueError, TypeError):
        return None


class Code:
    """Which functions are the runtime's. Of the static library some are known, by their names."""

    def __init__(self, layout):
        self.sp = REGISTERS[gdb.selected_inferior().architecture().name()][2]
        self.between = layout["asked_for_by"] + 8
        self.library = gdb.solib_name(layout.address)

    def is_library(self, pc):
        return bool(self.library) and gdb.solib_name(pc) == self.library

    def is_entrance(self, pc):
        """Of the runtime; of the static library, one that the program calls."""
        if self.library:
            return self.is_library(pc)
        return symbol(pc).startswith(("relock_execute", "relock_submit"))


class Follow:
    """Where backtraces go on in other threads' stacks."""

    def __init__(self):
        self.forget()
        self.busy = False
        self.wanted = True

    def forget(self, *_):
        self.known = False
        self.ways = {}  # (pc, sp) of the frame that is left: Way
        self.hidden = set()  # such pairs, of frames that are not shown

    def ensure(self):
        """Finds out all that the unwinder needs. True: it was not known before."""
        if self.known or self.busy or not self.wanted:
            return False
        self.known = self.busy = True
        try:
            state = State()
            if any(not run.submitted for run in state.runs):
                self._find_ways(state)
            return bool(self.ways)
        except (gdb.error, NoRuntime, KeyError):  # a processor that REGISTERS lacks
            return False
        finally:
            self.busy = False
            if self.ways:
                gdb.invalidate_cached_frames()

    def _find_ways(self, state):
        thread, frame = gdb.selected_thread(), gdb.selected_frame()
        level = frame.level()
        try:
            gdb.invalidate_cached_frames()
            ways = [Way(run, asker) for run in state.runs for asker in [state.asker(run)]
                    if asker and asker.thread and run.runner.thread]
            code = Code(state.layout)
            self.between = code.between
            for way in ways:
                way.find_client(code)
                way.find_runner(code)
            self.ways = {way.key: way for way in ways if way.key and way.client}
            self.hidden = {key for way in self.ways.values() for key in way.hidden}
        finally:
            thread.switch()
            gdb.invalidate_cached_frames()
            self._select(level)

    def is_between(self, frame):
        """Whether the frame stands for the way from one stack to another."""
        if frame.type() != gdb.SIGTRAMP_FRAME or frame.pc() != self.between:
            return False
        inner = frame.newer()
        return (inner.pc(), register(inner, "sp")) in self.ways

    @staticmethod
    def _select(level):
        frame = gdb.newest_frame()
        while level and frame.older():
            frame, level = frame.older(), level - 1
        frame.select()


class Way:
    """From the stack of who runs a section to that of who asked for it."""

    def __init__(self, run, asker):
        self.run, self.asker = run, asker
        self.client = None  # registers there
        self.key = self.outer_sp = None
        self.hidden = set()

    def find_client(self, code):
        self.asker.thread.switch()
        kept, _, sp, pc = REGISTERS[gdb.selected_inferior().architecture().name()]
        frame = self._caller(code)
        if frame:
            self.client = {name: register(frame, name) for name in kept + [sp]}
            self.client["pc"] = frame.pc()

    @staticmethod
    def _caller(code):
        """The first frame outside the runtime."""
        inside = False
        for frame in physical(gdb.newest_frame()):
            was, inside = inside, code.is_entrance(frame.pc())
            if was and not inside and frame.type() != gdb.SIGTRAMP_FRAME:
                return frame
        return None

    def find_runner(self, code):
        """Finds the frame with the run, and the one that called it, which is the one to leave."""
        self.run.runner.thread.switch()
        sp, frames = code.sp, []
        for frame in physical(gdb.newest_frame()):
            here = register(frame, sp)
            if here is None:
                return
            if frames and frames[-1][1] <= self.run.address < here:
                outer = frame.older()
                self.key = (frame.pc(), here)
                self.outer_sp = register(outer, sp) if outer else here + 16
                self._hide(code, frames)
                return
            frames.append((frame.pc(), here))

    def _hide(self, code, frames):
        """What the runtime has between the section and the frame that is left, and the latter."""
        last = len(frames) - 1
        sections = [i for i, (pc, _) in enumerate(frames) if function_at(pc) == self.run.section]
        first = sections[-1] + 1 if sections else last
        while not sections and first > 1 and code.is_library(frames[first - 1][0]):
            first -= 1
        self.hidden = set(frames[max(first, 1):]) | {self.key}

    def text(self):
        return "<section of %s, run by %s under %s>" % (
            self.run.client, self.run.runner, lock_text(self.run.mutex))


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Unwinder(gdb.unwinder.Unwinder):
    """Leaves the stack of who runs a section by relock_asked_for_by, whose frame is unwound into
    that of who asked for it."""

    def __init__(self):
        super().__init__("relock")

    def __call__(self, pending):
        if not follow.ways or follow.busy or not follow.wanted:
            return None
        names = REGISTERS.get(pending.architecture().name())
        if not names:
            return None
        kept, passed, sp, pc = names
        here = (int(pending.read_register(pc)) & 0xFFFFFFFFFFFFFFFF,
                int(pending.read_register(sp)) & 0xFFFFFFFFFFFFFFFF)
        way = follow.ways.get(here)
        if not way:
            return None
        info = pending.create_unwind_info(
            FrameId(self._value(pending, sp, way.outer_sp), self._value(pending, pc, here[0])))
        saved = {name: way.client[name] for name in kept}
        # Of a call: gdb looks at a signal frame's caller where that goes on.
        saved.update({passed[0]: way.client[sp], passed[1]: way.client["pc"] - 1,
                      sp: way.outer_sp, pc: follow.between})
        for name, value in saved.items():
            if value is not None:
                info.add_saved_register(name, self._value(pending, name, value))
        return info

    @staticmethod
    def _value(pending, name, value):
        kind = pending.read_register(name).type
        return gdb.Value(value & 0x7FFFFFFFFFFFFFFF | -(value & 1 << 63)).cast(kind)


class Between(FrameDecorator):
    """Takes the place of the runtime's frames between a section and its client."""

    def __init__(self, frame, way):
        super().__init__(frame)
        self.way = way

    def function(self):
        return self.way.text()

    def address(self):
        return None

    def filename(self):
        return None

    def line(self):
        return None

    def frame_args(self):
        return None

    def frame_locals(self):
        return None


class Filter:
    """Shows the way between two stacks as one line."""

    def __init__(self):
        self.name, self.enabled, self.priority = "relock", True, 10000
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        if follow.ensure():
            newest = gdb.frames.FrameIterator(gdb.newest_frame())
            frames = map(FrameDecorator, newest)
        return self._without_runtime(frames) if follow.ways and follow.wanted else frames

    @staticmethod
    def _without_runtime(frames):
        for decorator in frames:
            frame = decorator.inferior_frame()
            if follow.is_between(frame):
                inner = frame.newer()
                yield Between(frame, follow.ways[inner.pc(), register(inner, "sp")])
            elif (frame.pc(), register(frame, "sp")) not in follow.hidden:
                yield decorator


# --- commands ----------------------------------------------------------------------------------


class Relock(gdb.Command):
    """Who holds and waits for Relock's locks, and whose sections run where."""

    def __init__(self):
        super().__init__("relock", gdb.COMMAND_STATUS, gdb.COMPLETE_NONE, True)


def look():
    try:
        return State()
    except gdb.MemoryError as error:
        raise gdb.GdbError("relock: the runtime's data cannot be read: %s" % error)


class Who(gdb.Command):
    """relock who: what each thread has to do with locks.

Of a section, the function is named, the lock, who asked for it and who runs it."""

    def __init__(self):
        super().__init__("relock who", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        state = look()
        selected = gdb.selected_thread()
        known = {r.tid: r for r in state.records}
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
            record = known.get(thread.ptid[1] or thread.ptid[0])
            mark = "*" if selected and thread.num == selected.num else " "
            name = " \"%s\"" % thread.name if thread.name else ""
            print("%s Thread %d%s (LWP %d)" % (mark, thread.num, name, thread.ptid[1]))
            lines = self._lines(state, record) if record else ["has used no lock of Relock"]
            for line in lines or ["neither waits nor runs a section of others"]:
                print("    " + line)

    def _lines(self, state, record):
        lines = [self._run_line(run) for run in state.runs if run.runner is record]
        own = [r for r in state.runs if r.client is record and state.asker(r) is record]
        for run in own:
            lines.append("waits for its section %s, which %s runs under %s"
                         % (symbol(run.section), run.runner, lock_text(run.mutex)))
        lines += self._wait_lines(state, record, own)
        lines += self._server_lines(state, record)
        return lines

    @staticmethod
    def _run_line(run):
        return "runs %s for %s under %s%s" % (
            symbol(run.section), run.client, lock_text(run.mutex),
            ", which does not wait" if run.submitted else "")

    def _wait_lines(self, state, record, own):
        if record.sleeps:
            return ["sleeps on the condition variable %s, with %s"
                    % (symbol(state.layout.member(record.sleeps, "sleep.cond")),
                       lock_text(state.layout.member(record.sleeps, "sleep.mutex")))]
        wait = state.waiting_for(record)
        if not wait or any(run.mutex == wait[0] for run in own):
            return []
        if any(run.client is record and run.runner is not record for run in state.runs):
            return []  # it waits there
        what = "to have %s run under " % symbol(wait[1]) if wait[1] else "for "
        return ["waits %s%s%s" % (what, lock_text(wait[0]), self._held(state, wait[0]))]

    @staticmethod
    def _held(state, mutex):
        holder = state.holder(mutex)
        runs = state.runs_under(mutex)
        if runs:
            return ", under which %s runs %s for %s" % (
                runs[0].runner, symbol(runs[0].section), runs[0].client)
        return ", which %s has" % holder if holder else ""

    @staticmethod
    def _server_lines(state, record):
        for server in state.servers:
            for servicer in server.servicers:
                if servicer.record is record:
                    return ["is of server %d" % server.number]
        return []


class Locks(gdb.Command):
    """relock locks [LOCK or its address]: who has a lock and who waits for it.

The locks that somebody waits for and those under which a section of another thread runs, or the
given one. A lock that one thread has and no other one wants is not found by itself."""

    def __init__(self):
        super().__init__("relock locks", gdb.COMMAND_STATUS, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        state = look()
        mutexes = [self._address(argument)] if argument else self._known(state)
        for mutex in mutexes:
            try:
                self._print(state, mutex)
            except gdb.MemoryError:
                raise gdb.GdbError("relock: there is no lock at 0x%x" % mutex)
        if not mutexes:
            print("No lock is waited for, and no section of another thread runs.")

    @staticmethod
    def _address(argument):
        value = gdb.parse_and_eval(argument)
        if value.type.strip_typedefs().code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            return int(value.address)
        return int(value) & 0xFFFFFFFFFFFFFFFF

    @staticmethod
    def _known(state):
        known = [run.mutex for run in state.runs]
        for record in state.records:
            known += [w.mutex for w in state.waits[record]]
            known.append((state.waiting_for(record) or (None,))[0])
            if record.sleeps:
                known.append(state.layout.member(record.sleeps, "sleep.mutex"))
        return sorted({mutex for mutex in known if mutex})

    def _print(self, state, mutex):
        print("%s (0x%x, %s)" % (symbol(mutex), mutex, state.class_text(mutex)))
        for run in state.runs_under(mutex):
            print("    %s runs %s for %s under it" % (run.runner, symbol(run.section), run.client))
        if not state.runs_under(mutex):
            print("    " + self._holder(state, mutex))
        waiters = [r for r in state.records if (state.waiting_for(r) or (None,))[0] == mutex]
        if waiters:
            print("    wait for it: %s" % ", ".join(str(r) for r in waiters))
        sleepers = [r for r in state.records
                    if r.sleeps and state.layout.member(r.sleeps, "sleep.mutex") == mutex]
        if sleepers:
            print("    sleep on condition variables: %s" % ", ".join(str(r) for r in sleepers))

    @staticmethod
    def _holder(state, mutex):
        holder = state.holder(mutex)
        if holder:
            how = ", in a section of its own" if state.is_executing(mutex) else ""
            return "%s has it%s" % (holder, how)
        if not state.is_held(mutex):
            return "is free"
        return ("a combiner has it, in a section of its own" if state.is_executing(mutex)
                else "is held, and not known by whom")


class Servers(gdb.Command):
    """relock servers: what the threads of the servers do, and who waits for them."""

    def __init__(self):
        super().__init__("relock servers", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        state = look()
        for server in state.servers:
            self._print(state, server)
        if not state.servers:
            print("No server has been used.")

    def _print(self, state, server):
        how = ("refused" if server.refused else "not running" if not server.running
               else "asleep" if server.asleep else "running")
        where = "any processor" if server.cpu is None else "processor %d" % server.cpu
        print("Server %d: %s, on %s%s" % (server.number, how, where,
                                          ", SCHED_FIFO" if server.realtime else ""))
        for servicer in server.servicers:
            if not servicer.record:
                continue
            run = next((r for r in state.runs if r.runner is servicer.record and not r.outer), None)
            does = ("runs %s for %s under %s" % (symbol(run.section), run.client,
                                                 lock_text(run.mutex))
                    if run else "is in no section")
            print("    %s %s; %d sections before" % (servicer.record, does, servicer.sections))
        for record in state.records:
            for slot in server.asked_by(state, record):
                if not any(run.request == slot for run in state.runs):
                    print("    %s waits to have %s run under %s"
                          % (record, symbol(state.section_of(slot)),
                             lock_text(state.layout.member(slot, "request.mutex"))))


class Delegated(gdb.Function):
    """$_relock_delegated(): whether the thread runs a section that another one has asked for.

For the conditions of breakpoints: break SECTION if $_relock_delegated()"""

    def __init__(self):
        super().__init__("_relock_delegated")

    def invoke(self):
        thread = gdb.selected_thread()
        return any(run.runner.thread is thread or run.runner.tid == thread.ptid[1]
                   for run in look().runs)


class FollowParameter(gdb.Parameter):
    """Whether backtraces go on in the frames of who asked for a section.

Off: they show the stack of the thread that runs it, as it is."""

    set_doc = "Set whether backtraces go from a section on to who asked for it."
    show_doc = "Show whether backtraces go from a section on to who asked for it."

    def __init__(self):
        super().__init__("relock-follow", gdb.COMMAND_STACK, gdb.PARAM_BOOLEAN)
        self.value = True

    def get_set_string(self):
        follow.wanted = self.value
        follow.forget()
        gdb.invalidate_cached_frames()
        return ""

    def get_show_string(self, value):
        return "Backtraces go from a section on to who asked for it: %s." % value


def on_stop(*_):
    follow.forget()
    follow.ensure()


def connections():
    yield gdb.events.stop, on_stop
    yield gdb.events.before_prompt, follow.ensure
    for event in ("cont", "exited", "clear_objfiles", "new_objfile", "inferior_deleted"):
        yield getattr(gdb.events, event), follow.forget


def start():
    Relock()
    Who()
    Locks()
    Servers()
    FollowParameter()
    Delegated()
    Filter()
    gdb.unwinder.register_unwinder(None, Unwinder(), True)
    follow.connected = list(connections())
    for event, handler in follow.connected:
        event.connect(handler)


# Of several copies, in the program and in libraries, the last one counts.
if hasattr(gdb, "relock"):
    for connected_event, connected_handler in gdb.relock.connected:
        connected_event.disconnect(connected_handler)
follow = gdb.relock = Follow()
start()
