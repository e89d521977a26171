/** A message of an answer: a batch of the engine, which is as large as its largest row where that is larger than a slot. */
export const maxTaskMessageBytes: number = 256 * 1024 * 1024;
