/** Lloyd's iterations of k-means, as the ranks of one stage compute them. */
package org.sparkcollectives.ml.internal.kmeans;
