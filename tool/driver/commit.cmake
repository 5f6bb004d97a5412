# SPDX-License-Identifier: MIT
# Writes the commit of the working copy SOURCE into OUTPUT as a C++ string literal, an empty one
# where it is not known: SOURCE may be no working copy, or lie in that of something else. Leaves
# OUTPUT as it is where that says so already, so that nothing is compiled again.
function(ask result)
  execute_process(COMMAND git -C "${SOURCE}" rev-parse ${ARGN}
    OUTPUT_VARIABLE answer RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(failed)
    set(answer "unknown")
  endif()
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

ask(folder_in_it --show-prefix)
ask(commit --short=12 HEAD)
if(folder_in_it OR commit STREQUAL "unknown")
  set(commit "")
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "\"${commit}\"\n" @ONLY)
