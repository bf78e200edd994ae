// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What mounting NFS from the guest itself takes that no nfs-utils are there for. Its server's locks register with a port mapper:
 *
 *   nfs_to_itself ports             answers each call to port 111 with "yes", for ever
 *   nfs_to_itself mount FROM TO     mounts the exported directory FROM, whose handle the server tells, at TO
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/nfs_mount.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HANDLES "/proc/fs/nfsd/filehandle"
/* A fragment of a record over TCP: its length, and in the top bit that it is the last. */
#define LAST_FRAGMENT 0x80000000u

static struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

static int read_all(int peer, void *to, size_t bytes)
{
	unsigned char *next = to;

	while (bytes > 0) {
		ssize_t got = read(peer, next, bytes);

		if (got <= 0)
			return -1;
		next += got;
		bytes -= (size_t)got;
	}
	return 0;
}

/* Of a call only its number is read: register, unregister, whatever it is, succeeds and is true. */
static void answer(int peer)
{
	uint32_t length = 0;
	uint32_t call[1024];

	while (read_all(peer, &length, sizeof(length)) == 0) {
		size_t bytes = ntohl(length) & ~LAST_FRAGMENT;
		/* Length, number, reply, accepted, no verifier of no bytes, success, true. */
		uint32_t reply[8] = {
			htonl(LAST_FRAGMENT | 28), 0, htonl(1), 0, 0, 0, 0, htonl(1)
		};

		if (bytes < sizeof(call[0]) || bytes > sizeof(call) ||
		    read_all(peer, call, bytes) != 0)
			return;
		reply[1] = call[0];
		if (write(peer, reply, sizeof(reply)) != (ssize_t)sizeof(reply))
			return;
	}
}

static int map_ports(void)
{
	struct sockaddr_in address = loopback(111);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    listen(listener, 16) != 0) {
		perror("nfs_to_itself: port 111");
		return 1;
	}
	if (daemon(0, 0) != 0) {
		perror("nfs_to_itself: daemon");
		return 1;
	}
	for (;;) {
		int peer = accept(listener, NULL, NULL);

		if (peer >= 0 && fork() == 0) {
			answer(peer);
			_exit(0);
		}
		close(peer);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

/* The server tells a handle as \x and two digits a byte. */
static int handle_of(const char *directory, struct nfs3_fh *handle)
{
	char text[2 * NFS3_FHSIZE + 16] = "";
	int file = open(HANDLES, O_RDWR | O_CLOEXEC);
	int asked = snprintf(text, sizeof(text), "self %s %d\n", directory, NFS3_FHSIZE);
	ssize_t got = 0;

	if (file < 0 || asked >= (int)sizeof(text) || write(file, text, (size_t)asked) != asked ||
	    (got = read(file, text, sizeof(text) - 1)) < 4) {
		perror("nfs_to_itself: " HANDLES);
		return -1;
	}
	close(file);
	text[got] = '\0';
	for (const char *digits = text + 2;
	     sscanf(digits, "%2hhx", &handle->data[handle->size]) == 1; digits += 2)
		handle->size++;
	return handle->size ? 0 : -1;
}

static int mount_directory(const char *from, const char *to)
{
	struct nfs_mount_data data = {
		.version = NFS_MOUNT_VERSION,
		.flags = NFS_MOUNT_VER3 | NFS_MOUNT_TCP | NFS_MOUNT_NONLM | NFS_MOUNT_NOACL,
		.rsize = 65536,
		.wsize = 65536,
		.timeo = 600,
		.retrans = 2,
		.addr = loopback(2049),
		.hostname = "127.0.0.1",
	};

	if (handle_of(from, &data.root) != 0)
		return 1;
	if (mount("127.0.0.1:/", to, "nfs", 0, &data) != 0) {
		perror("nfs_to_itself: mount");
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "ports") == 0)
		return map_ports();
	if (argc == 4 && strcmp(argv[1], "mount") == 0)
		return mount_directory(argv[2], argv[3]);
	fprintf(stderr, "usage: nfs_to_itself ports | mount FROM TO\n");
	return 2;
}
