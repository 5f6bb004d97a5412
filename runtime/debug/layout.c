/* SPDX-License-Identifier: MIT */
#include "layout.h"

#include "../base/atomic.h"
#include "../base/class.h"
#include "../base/request.h"
#include "../base/thread.h"
#include "../base/wait.h"
#include "../base/word.h"
#include "../locks/algorithm.h"
#include "../locks/section.h"
#include "../server/server.h"

#include <stddef.h>

/* Where a debugger's way leaves the stack of who runs a section for that of who asked for it. It
 * is never run, and no stack has a return address in it: relock-gdb.py puts it between the two.
 * What counts is how it is unwound. Its caller's stack pointer, and where that goes on, are in two
 * registers that no function keeps, and a signal frame is the only one that may be followed by a
 * frame of any other stack. */
#if defined(__x86_64__)
#define REGISTERS ".cfi_def_cfa 0, 0\n.cfi_register 16, 1\n" /* rax; rip in rdx */
#elif defined(__aarch64__)
#define REGISTERS ".cfi_def_cfa 0, 0\n.cfi_register 30, 1\n" /* x0; lr in x1 */
#endif
__asm__(".pushsection .text\n"
        ".p2align 4\n"
        ".hidden relock_asked_for_by\n"
        ".globl relock_asked_for_by\n"
        ".type relock_asked_for_by, %function\n"
        "relock_asked_for_by:\n"
        ".cfi_startproc\n"
        ".cfi_signal_frame\n" REGISTERS ".zero 16\n"
        ".cfi_endproc\n"
        ".size relock_asked_for_by, . - relock_asked_for_by\n"
        ".popsection\n");
extern const char relock_asked_for_by[] RELOCK_HIDDEN;

/* A program that is linked with the static library has the script in itself. */
#ifdef RELOCK_GDB_SCRIPT
__asm__(".pushsection .debug_gdb_scripts, \"MS\", %progbits, 1\n"
        ".byte 4\n" /* Python, in this place */
        ".ascii \"relock-gdb.py\\n\"\n"
        ".incbin \"" RELOCK_GDB_SCRIPT "\"\n"
        ".byte 0\n"
        ".popsection\n");
#endif

#define SIZE(name, type) {#name ".size", sizeof(type)}
#define MEMBER(name, type, member) {#name "." #member, offsetof(type, member)}
#define THREAD(member) MEMBER(thread, struct relock_thread, member)
#define REQUEST(member) MEMBER(request, struct relock_request, member)
#define SERVER(member) MEMBER(server, struct relock_server, member)
#define SERVICER(member) MEMBER(servicer, struct relock_servicer, member)
#define MUTEX(member) {"mutex." #member, offsetof(relock_mutex_t, relock_private.member)}
#define CONSTANT(name, value) {name, (uint64_t)(value)}
#define ADDRESS(name, object) {name, (uintptr_t)(object)}

const struct relock_debug_layout relock_debug_layout = {
    RELOCK_LAYOUT_VERSION,
    RELOCK_LAYOUT_ENTRIES,
    sizeof(struct relock_debug_entry),
    0,
    {
        SIZE(thread, struct relock_thread),
        THREAD(stack),
        THREAD(stack_end),
        THREAD(tag),
        THREAD(tid),
        THREAD(running),
        THREAD(waits),
        THREAD(sleeps),
        THREAD(rcl_serves),
        THREAD(rcl_number),
        ADDRESS("records", relock_thread_records),
        ADDRESS("records_end", &relock_thread_records_end),

        MEMBER(run, struct relock_run, request),
        MEMBER(run, struct relock_run, outer),
        MEMBER(wait, struct relock_wait, mutex),
        MEMBER(wait, struct relock_wait, outer),
        MEMBER(sleep, struct relock_sleep, cond),
        MEMBER(sleep, struct relock_sleep, mutex),

        REQUEST(mutex),
        REQUEST(state),
        REQUEST(result),
        REQUEST(section),
        REQUEST(context),
        CONSTANT("number_shift", RELOCK_NUMBER_SHIFT),
        CONSTANT("as_client", RELOCK_AS_CLIENT),
        CONSTANT("submitted", RELOCK_SUBMITTED),
        ADDRESS("wrappers", relock_wrappers),
        CONSTANT("wrappers_end", RELOCK_WRAPPERS),
        SIZE(wrapper, struct relock_wrapper),
        MEMBER(wrapper, struct relock_wrapper, runs),
        MEMBER(wrapper, struct relock_wrapper, section),
        MEMBER(wrapper, struct relock_wrapper, by_pointer),

        MUTEX(lock_class),
        MUTEX(word),
        MUTEX(holder),
        MUTEX(executing),
        CONSTANT("executing_bits", RELOCK_EXECUTING | RELOCK_EXECUTING_ALONE),
        CONSTANT("word_free", RELOCK_WORD_FREE),
        CONSTANT("word_served", RELOCK_WORD_SERVED),
        ADDRESS("default_class", &relock_default_class),
        MEMBER(class, relock_class_t, name),
        MEMBER(class, relock_class_t, relock_ops),
        MEMBER(algorithm, struct relock_algorithm, name),

        ADDRESS("servers", relock_servers),
        ADDRESS("servers_end", &relock_servers_end),
        SIZE(server, struct relock_server),
        SERVER(slots),
        SERVER(state),
        SERVER(cpu),
        SERVER(realtime),
        SERVER(asleep),
        SERVER(places),
        SERVER(servicer),
        CONSTANT("server_running", RELOCK_SERVER_RUNNING),
        CONSTANT("server_refused", RELOCK_SERVER_REFUSED),
        SIZE(slot, struct relock_request[2]),
        SIZE(servicer, struct relock_servicer),
        SERVICER(record),
        SERVICER(state),
        SERVICER(sections),
        SERVICER(runs_under),
        CONSTANT("servicer_active", RELOCK_SERVICER_ACTIVE),

        ADDRESS("asked_for_by", relock_asked_for_by),
    },
};
