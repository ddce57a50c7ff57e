/** Process groups: how they are made and closed, and the checks of each call's arguments. */
package org.sparkcollectives.internal.group;
