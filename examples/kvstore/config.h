/* SPDX-License-Identifier: MIT
 *
 * Settings: read from the command line, changed at run time by name.
 */
#ifndef KVSTORE_CONFIG_H
#define KVSTORE_CONFIG_H

enum setting {
    SET_THREADS,     /* client threads of the load generator */
    SET_WORKERS,     /* threads of the worker pool */
    SET_SECONDS,     /* length of the run; 0: by operations */
    SET_OPERATIONS,  /* operations of each client; 0: by time */
    SET_CAPACITY,    /* items that the store can hold */
    SET_KEYS,        /* number of shared keys */
    SET_TTL,         /* milliseconds a cached value lives */
    SET_EXPIRY,      /* milliseconds between two expiry passes */
    SET_QUOTA,       /* bytes a tenant may pin; 0: any */
    SET_SEED,
    SET_VERBOSE,
    SETTINGS
};

void config_init(void);
int  config_parse(int argc, char **argv);
long config_get(enum setting name);
int  config_set(enum setting name, long value);
int  config_set_by_letter(int letter, long value);
long config_changes(void);

#endif
