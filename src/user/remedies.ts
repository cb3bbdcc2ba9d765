/** A sentence on what a user can do about a status that ends the work. */
export const remedyOf = (status: number): string =>
  remedies[status] ??
  (status >= 500
    ? 'The service, or a proxy before it, failed. See its log, or try again later.'
    : 'Correct the base URL, the scenario or the --contract.')

const remedies: Readonly<Record<number, string>> = {
  400: 'Correct the model and the fields of the step.',
  401: 'Set ASSAY_API_KEY to a key that the service accepts.',
  402: 'Top up the account.',
  403: 'Check the credits and permissions of the account.',
  404: 'Correct the base URL, the model, or the paths of the --contract.',
  405: 'Correct the base URL, or the paths of the --contract.',
  422: 'Correct the model and the fields of the step.',
  429: 'Wait until the rate limit allows requests.',
}
