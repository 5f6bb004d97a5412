# SPDX-License-Identifier: MIT
# Writes the files of the list SOURCES into OUTPUT, each as one C++ string literal and a comma. With
# NAMED_BELOW, each as {name, text}: the path below that folder, without its extension.
set(text "")
foreach(source IN LISTS SOURCES)
  file(READ "${source}" content)
  set(literal "R\"pages(${content})pages\"")
  if(NAMED_BELOW)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY "${NAMED_BELOW}" OUTPUT_VARIABLE name)
    cmake_path(REMOVE_EXTENSION name LAST_ONLY)
    set(literal "{\"${name}\", ${literal}}")
  endif()
  string(APPEND text "${literal},\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
