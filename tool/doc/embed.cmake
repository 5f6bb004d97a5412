# SPDX-License-Identifier: MIT
# Writes the files of the list SOURCES into OUTPUT, each as one C++ string literal and a comma.
set(text "")
foreach(source IN LISTS SOURCES)
  file(READ "${source}" content)
  string(APPEND text "R\"pages(${content})pages\",\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
