/* SPDX-License-Identifier: MIT */
#include "lru.h"

void lru_add(struct lru *lru, struct item *it)
{
    it->lru_newer = NULL;
    it->lru_older = lru->newest;
    if (lru->newest != NULL)
        lru->newest->lru_newer = it;
    else
        lru->oldest = it;
    lru->newest = it;
}

void lru_remove(struct lru *lru, struct item *it)
{
    if (it->lru_newer != NULL)
        it->lru_newer->lru_older = it->lru_older;
    else
        lru->newest = it->lru_older;
    if (it->lru_older != NULL)
        it->lru_older->lru_newer = it->lru_newer;
    else
        lru->oldest = it->lru_newer;
    it->lru_newer = it->lru_older = NULL;
}

void lru_touch(struct lru *lru, struct item *it)
{
    if (lru->newest == it)
        return;
    lru_remove(lru, it);
    lru_add(lru, it);
    lru->moves++;
}
