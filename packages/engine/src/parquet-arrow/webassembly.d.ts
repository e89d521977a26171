/** The part of the WebAssembly JavaScript interface that kernels.ts uses: the types of Node.js leave it to the browser's. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    readonly buffer: ArrayBuffer;
    /** In pages of 64 KiB. Throws RangeError where the system gives no more. */
    grow(pages: number): number;
  }
}
