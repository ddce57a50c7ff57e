$sample
