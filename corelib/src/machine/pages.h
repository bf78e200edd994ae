/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine/pages.h - the pages of a node: its lists, its free pages and its bandwidth; and the
 * per-CPU pages.
 */
#ifndef SWAPSIM_MACHINE_PAGES_H
#define SWAPSIM_MACHINE_PAGES_H

#include "machine/layout.h"

void sws_machine__list_add(struct sws_machine *self, struct node *node, enum machine_list list,
			   uint32_t page);
void sws_machine__list_add_tail(struct sws_machine *self, struct node *node, enum machine_list list,
				uint32_t page);
void sws_machine__list_take(struct sws_machine *self, uint32_t page);

/* Removes the owner of a page. */
void sws_machine__forget_page(struct sws_machine *self, uint32_t page);

/*
 * Puts the page of an address, or of a writer (MACHINE_NONE), into memory before the first event.
 */
void sws_machine__put_into_memory(struct sws_machine *self, struct node *node, uint32_t pte,
				  enum machine_list list);

/*
 * Moves a page through the node's memory; returns how long a CPU is busy that needs cpu_ns alone.
 */
uint64_t sws_machine__transfer(struct sws_machine *self, struct node *node, uint64_t cpu_ns);

/* Moves pages of the zone to this CPU, under zone->lock. */
int sws_machine__get_free(struct actor *actor, struct node *node);

/* Frees a page that the actor holds to its CPU's free pages. */
void sws_machine__free_page(struct sws_machine *self, struct actor *actor, uint32_t page);

/* Returns the surplus of this CPU's free pages to the zone. */
int sws_machine__drain_free(struct actor *actor);

/* Adds a page that the actor holds to its list, together with others of this CPU. */
int sws_machine__lru_add(struct actor *actor, uint32_t page);

/* Adds the pages of this CPU's pagevec to their lists now. */
int sws_machine__lru_add_drain(struct actor *actor);

#endif
