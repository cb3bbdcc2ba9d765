/** Prints the result of each call as a line of JSON: its name and its value, or its error. */
export async function calls(list) {
  for (const [name, call] of Object.entries(list)) {
    let said
    try {
      said = { name, value: await call() }
    } catch (error) {
      said = { name, error: `${error.constructor.name}: ${error.message}` }
    }
    process.stdout.write(`${JSON.stringify(said)}\n`)
  }
}

export const { ASSAY_API_KEY: apiKey, BASE_URL: baseUrl } = process.env
export const model = 'svc-k2'
