# SPDX-License-Identifier: MIT
"""The same programs behind a lock layer of their own: names for the types, and functions that hand
what they are given to POSIX's."""

import random
import re

# What the layer has of POSIX: name, parameters, arguments.
FUNCTIONS = {
    "pthread_mutex_lock": ("layer_mutex_t *m", "m"),
    "pthread_mutex_trylock": ("layer_mutex_t *m", "m"),
    "pthread_mutex_unlock": ("layer_mutex_t *m", "m"),
    "pthread_mutex_destroy": ("layer_mutex_t *m", "m"),
    "pthread_cond_wait": ("layer_cond_t *c, layer_mutex_t *m", "c, m"),
    "pthread_cond_signal": ("layer_cond_t *c", "c"),
    "pthread_cond_broadcast": ("layer_cond_t *c", "c"),
}
TYPES = {"pthread_mutex_t": "layer_mutex_t", "pthread_cond_t": "layer_cond_t"}
# Of these an operation in the text is an acquisition.
ACQUIRES = ["layer_mutex_lock", "layer_mutex_trylock"]


def own_name(name):
    return name.replace("pthread_", "layer_")


def body(name, arguments, tests, rng):
    call = "%s(%s)" % (name, arguments)
    if tests and name in ("pthread_mutex_lock", "pthread_mutex_unlock") and rng.random() < 0.3:
        return "  int error = %s;\n  if (error)\n    abort();\n  return error;" % call
    return "  return %s;" % call


def layered(files, seed):
    """The files, perhaps with a layer, and whether they have one."""
    rng = random.Random("layer %d" % seed)
    if rng.random() < 0.6:
        return files, False
    inline = rng.random() < 0.5
    deep = rng.random() < 0.3  # a layer over a layer
    used = {name for name in FUNCTIONS if name in ("pthread_mutex_lock", "pthread_mutex_unlock") or
            rng.random() < 0.6}
    types = rng.random() < 0.7
    # A function that tests for failures, and is given a recursive mutex, mixes what goes through it;
    # and the library's lock, which goes through it too, is kept.
    tests = "outside.c" not in files and rng.random() < 0.5
    declared, defined = [], []
    for name in sorted(used):
        parameters, arguments = FUNCTIONS[name]
        inner = own_name(name).replace("layer_", "base_")
        if deep:
            defined.append("static inline int %s(%s) {\n%s\n}\n" % (
                inner, parameters, body(name, arguments, tests, rng)))
        head = "int %s(%s)" % (own_name(name), parameters)
        declared.append(head + ";\n")
        defined.append("%s%s {\n%s\n}\n" % ("static inline " if inline else "", head,
                                           body(inner if deep else name, arguments, tests, rng)))
    header = ("#ifndef LAYER_H\n#define LAYER_H\n#include <pthread.h>\n#include <stdlib.h>\n"
              "typedef pthread_mutex_t layer_mutex_t;\ntypedef pthread_cond_t layer_cond_t;\n" +
              "".join(defined if inline else declared) + "#endif\n")
    result = dict(files)
    for name, text in files.items():
        if name != "common.h" and 'common.h"' not in text:
            continue  # it may not see the layer
        for function in used:
            text = re.sub(r"\b%s\(" % function, own_name(function) + "(", text)
        if types:
            for posix, own in TYPES.items():
                text = re.sub(r"\b%s\b" % posix, own, text)
        result[name] = text
    result["common.h"] = result["common.h"].replace("#include <pthread.h>\n",
                                                    '#include <pthread.h>\n#include "layer.h"\n')
    result["layer.h"] = header
    if not inline:
        result["layer.c"] = '#include "layer.h"\n' + "".join(defined)
    return result, True
