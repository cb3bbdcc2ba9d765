/** A report that cannot be made, told in one sentence to the person who asked for it. */
export class ReportError extends Error {
  override readonly name = 'ReportError'
}
