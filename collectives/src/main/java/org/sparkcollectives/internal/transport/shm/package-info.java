/** Memory that processes of one host share. */
package org.sparkcollectives.internal.transport.shm;
