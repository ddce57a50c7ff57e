/** Connects the public packages to their implementation. */
package org.sparkcollectives.internal;
