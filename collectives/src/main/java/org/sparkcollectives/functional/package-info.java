/** Collectives that leave their inputs as they are: c10d's functional collectives. */
package org.sparkcollectives.functional;
