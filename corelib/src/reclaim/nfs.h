/* SPDX-License-Identifier: GPL-2.0-or-later */
/* reclaim/nfs.h - a file on an NFS server: write calls, unstable pages, commits. */
#ifndef SWAPSIM_RECLAIM_NFS_H
#define SWAPSIM_RECLAIM_NFS_H

#include "reclaim/layout.h"

/* Sends consecutive pages under writeback; stable for a page that reclaim writes. */
int sws_reclaim__send(struct sws_reclaim *self, uint32_t first, uint32_t pages, bool stable);

/* nfs_commit_inode: starts a commit of all unstable pages unless one is under way. */
int sws_reclaim__commit(struct sws_reclaim *self);

/*
 * nfs_commit_unstable_pages: as sws_reclaim__commit, if more than half of the resident pages are
 * unstable.
 */
int sws_reclaim__commit_many(struct sws_reclaim *self);

/* Starts a commit for a task, which waits for the commit under way and for its own. */
int sws_reclaim__await_commit(struct actor *actor);

/* Returns the bits of enum sws_stall_page for a page with private data; 0 for another page. */
uint16_t sws_reclaim__ask_nfs(const struct sws_reclaim *self, const struct page *page);

/* Runs the network. */
int sws_reclaim__net(struct actor *actor);
int sws_reclaim__server(struct actor *actor);

/* Runs the server's disk. */
#endif
