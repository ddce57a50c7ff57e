/** Checks the calls of all ranks against each other before data moves. */
package org.sparkcollectives.internal.agreement;
