/* SPDX-License-Identifier: MIT
 *
 * What the runtime leaves in the folder of `relock profile`, as PID.librelock: its statistics, in
 * memory that both have mapped. Its place is made when the process starts; to write there needs no
 * system call, which the program may have forbidden itself. `relock profile` asks for statistics of
 * now by a number; a thread of the runtime writes them, and the number, unless the process is a
 * forked one. The last word is that of the exit.
 */
#ifndef RELOCK_STATISTICS_STATS_SHARE_H
#define RELOCK_STATISTICS_STATS_SHARE_H

#include <stdint.h>

#define RELOCK_SHARE_MAGIC 0x7374617472656c6bull
#define RELOCK_SHARE_SIZE (1u << 20)         /* bytes */
#define RELOCK_SHARE_THREAD "relock-answers" /* the name of the thread that answers */

struct relock_share {
  uint64_t magic;
  uint32_t listens; /* a thread answers */
  uint32_t asked;   /* a futex */
  uint32_t answered;
  uint32_t padding;
  uint64_t length; /* of the text; 0: not written yet, or being written */
  uint64_t reserved[4];
}; /* behind it the text, a profile: see tool/profile/doc/file.md */

#endif
