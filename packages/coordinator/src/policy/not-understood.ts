/** A demand of a catalog that cannot be met here. `what` names its kind and never holds a value of it. */
export class NotUnderstood extends Error {
  override readonly name = 'NotUnderstood';
  readonly what: string;

  constructor(what: string) {
    super(what);
    this.what = what;
  }
}
