# SPDX-License-Identifier: MIT
"""system-files.py DIR SHARED: writes under DIR what /sys says of a machine whose processors share
nothing nearer than SHARED: `core`, `cache`, `node` or `nothing`."""
import os
import sys

folder, shared = sys.argv[1:]
rank = ["core", "cache", "node", "nothing"].index(shared)
cpus = sorted(os.sched_getaffinity(0))
everyone = ",".join(map(str, cpus))


def write(path, text):
    path = os.path.join(folder, "devices/system", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text + "\n")


write("cpu/possible", f"0-{cpus[-1]}")
for cpu in cpus:
    write(f"cpu/cpu{cpu}/topology/thread_siblings_list", everyone if rank <= 0 else str(cpu))
    for index, (level, kind, sharing) in enumerate(
            [(1, "Data", cpu), (1, "Instruction", cpu), (2, "Unified", cpu),
             (3, "Unified", everyone if rank <= 1 else cpu)]):
        write(f"cpu/cpu{cpu}/cache/index{index}/level", str(level))
        write(f"cpu/cpu{cpu}/cache/index{index}/type", kind)
        write(f"cpu/cpu{cpu}/cache/index{index}/shared_cpu_list", str(sharing))
nodes = [everyone] if rank <= 2 else map(str, cpus)
for node, members in enumerate(nodes):
    write(f"node/node{node}/cpulist", members)
write("node/online", f"0-{0 if rank <= 2 else len(cpus) - 1}")
