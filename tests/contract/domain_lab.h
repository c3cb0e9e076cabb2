/* A room of domains of libvirt's test driver, in a folder of its own, and a backend that reaches
 * them. Each is defined off, with a disk and a network card. What a test driver's connection
 * changes is seen by that connection only. */
#ifndef PULT_DOMAIN_LAB_H
#define PULT_DOMAIN_LAB_H

#include "tests/contract/backend_check.h"

typedef struct {
  char *folder;
  char *room; /* URI */
  Layout *layout;
  BackendCheck *check;
  GString *seen; /* `seat: fact value` and `link up|down: text`, a line each */
} DomainLab;

/* N domains `vm-a01` …; nothing is started yet. */
DomainLab *domain_lab_new(guint n);
/* As XML: the domain `vm-aNN` of the room. Free with g_free(). */
char *domain_lab_xml(guint number);
/* CLIENTS are lines of `clients:`, whose power and console it is; SETTINGS those of the backend.
 * Fails the test when they are wrong. */
void domain_lab_open(DomainLab *lab, const char *clients, const char *settings);
/* Ends the backend. */
void domain_lab_close(DomainLab *lab);
void domain_lab_free(DomainLab *lab);

/* Waits until TEXT is in `seen`; fails the test when it never is. */
void domain_lab_see(const DomainLab *lab, const char *text);

#endif
