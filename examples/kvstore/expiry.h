/* SPDX-License-Identifier: MIT
 *
 * The thread that moves the store's clock and removes expired items.
 */
#ifndef KVSTORE_EXPIRY_H
#define KVSTORE_EXPIRY_H

#include "store.h"

int           expiry_start(struct store *s, unsigned interval_ms);
void          expiry_stop(void);
unsigned long expiry_passes(void);

#endif
