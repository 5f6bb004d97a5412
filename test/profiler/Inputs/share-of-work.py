# SPDX-License-Identifier: MIT
"""share-of-work.py PROFILE TRUTH: whether the share of sections in what the threads worked is between
the bounds that the profile states. TRUTH has it as the program measured it. Prints all three.
"""
import json
import sys

ROOM = 0.05  # the program's own start and end, and what lies between its clock readings and locks

with open(sys.argv[1]) as file:
    profile = json.load(file)
with open(sys.argv[2]) as file:
    truth = float(file.read())
if "worked_ns" not in profile:
    sys.exit()
least, most = profile["section_share_of_work_at_least"], profile["section_share_of_work"]
print(f"{100 * least:.1f} % to {100 * most:.1f} %, in truth {100 * truth:.1f} %")
sys.exit(not (0 < least <= most <= 1 and least - ROOM <= truth <= most + ROOM))
