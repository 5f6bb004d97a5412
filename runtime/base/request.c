/* SPDX-License-Identifier: MIT */
#include "request.h"

static relock_unwrap_t *unwrapped;

void relock_sections_wrapped_by(relock_unwrap_t *unwrap) {
  relock_store_relaxed(&unwrapped, unwrap);
}

relock_section_t relock_section_asked_for(const struct relock_request *request) {
  relock_unwrap_t *unwrap = relock_load_relaxed(&unwrapped);
  return unwrap ? unwrap(request) : request->section;
}
