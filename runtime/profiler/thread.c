/* SPDX-License-Identifier: MIT */
#include "thread.h"

__thread struct thread *recording_ready;
