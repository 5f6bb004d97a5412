/* SPDX-License-Identifier: MIT */
#include "generation.h"

uint32_t relock_generation_counter;
