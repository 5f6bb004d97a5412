# SPDX-License-Identifier: MIT
"""no-new-rights.py COMMAND…: runs it as one that can gain no rights by what it starts."""
import ctypes
import os
import sys

PR_SET_NO_NEW_PRIVS = 38
if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
    sys.exit("prctl failed")
os.execv(sys.argv[1], sys.argv[1:])
