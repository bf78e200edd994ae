/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vm/nfs.h - the file on a server: calls that write, pages that are unstable, commits. */
#ifndef SWAPSIM_RECLAIM_NFS_H
#define SWAPSIM_RECLAIM_NFS_H

#include "reclaim/layout.h"

/* A run of pages under writeback is sent; stable, if reclaim writes one. */
int sws_reclaim__send(struct sws_reclaim *vm, uint32_t first, uint32_t pages, bool stable);

/* nfs_commit_inode: unless one is under way, all unstable pages are to be on the server's disk. */
int sws_reclaim__commit(struct sws_reclaim *vm);

/* nfs_commit_unstable_pages: the same, if more than half of the pages in use are unstable. */
int sws_reclaim__commit_many(struct sws_reclaim *vm);

/* The same for a task, which waits for what is under way, and for its own. */
int sws_reclaim__await_commit(struct actor *actor);

/* Bits of enum sws_stall_page for a page that the filesystem holds on to; 0 if it does not. */
uint16_t sws_reclaim__ask_nfs(const struct sws_reclaim *vm, const struct page *page);

/* The net, and the server's disk. */
int sws_reclaim__net(struct actor *actor);
int sws_reclaim__server(struct actor *actor);

#endif
