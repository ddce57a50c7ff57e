/** Checks of the debug levels, and the backend that exchanges nothing. */
package org.sparkcollectives.internal.debug;
