/** Lets ranks find each other: rendezvous URLs, endpoints, agreed settings, and the secret. */
package org.sparkcollectives.internal.rendezvous;
