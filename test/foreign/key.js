/** The scope of one count, as deployments choose it; the limiters' own default is an address. */
const scopes = {
  address: () => 'everybody',
  bearer: ({ authorization }) => authorization ?? 'no key',
  key: ({ authorization, 'x-api-key': key }) => authorization ?? key ?? 'no key',
  route: ({ authorization, 'x-api-key': key }, path) => `${path} ${authorization ?? key}`,
}

export const scopeOf = scopes[process.argv[4]]
