/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine/pages.h - a node's pages: its lists, its free ones, its bandwidth; and what CPUs gather of them. */
#ifndef SWAPSIM_MACHINE_PAGES_H
#define SWAPSIM_MACHINE_PAGES_H

#include "machine/layout.h"

void sws_machine__list_add(struct sws_machine *self, struct node *node, enum machine_list list,
			   uint32_t page);
void sws_machine__list_add_tail(struct sws_machine *self, struct node *node, enum machine_list list,
				uint32_t page);
void sws_machine__list_take(struct sws_machine *self, uint32_t page);

/* The page is nobody's any more. */
void sws_machine__forget_page(struct sws_machine *self, uint32_t page);

/* The page of an address, or of a writer (MACHINE_NONE), into memory, before the first event. */
void sws_machine__put_into_memory(struct sws_machine *self, struct node *node, uint32_t pte,
				  enum machine_list list);

/* The node's memory moves a page: how long a CPU is busy that needs cpu_ns for it alone. */
uint64_t sws_machine__transfer(struct sws_machine *self, struct node *node, uint64_t cpu_ns);

/* Pages of the zone to this CPU, under zone->lock. */
int sws_machine__get_free(struct actor *actor, struct node *node);

/* A page in the actor's hands is this CPU's to use. */
void sws_machine__free_page(struct sws_machine *self, struct actor *actor, uint32_t page);

/* What this CPU has too much of goes back to the zone. */
int sws_machine__drain_free(struct actor *actor);

/* A page in the actor's hands goes to its list, with others of this CPU. */
int sws_machine__lru_add(struct actor *actor, uint32_t page);

/* What this CPU gathered goes to its list now. */
int sws_machine__lru_add_drain(struct actor *actor);

#endif
