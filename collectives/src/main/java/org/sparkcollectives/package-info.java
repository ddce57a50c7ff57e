/**
 * Process groups, tensors, works and their options: what a program imports.
 *
 * <p>Nothing here depends on the implementation, which {@link
 * org.sparkcollectives.CollectivesProvider} connects.
 */
package org.sparkcollectives;
