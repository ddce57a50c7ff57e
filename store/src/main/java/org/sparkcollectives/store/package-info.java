/** The key-value store in which ranks find each other, with c10d's semantics. */
package org.sparkcollectives.store;
