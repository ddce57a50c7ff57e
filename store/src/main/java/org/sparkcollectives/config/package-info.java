/** Declared settings, their types, units and defaults. */
package org.sparkcollectives.config;
