/** Where the test services are. `./yard test` starts them and sets these; tests run through it. */
function required(variable: string): string {
  const value = process.env[variable]
  if (!value) throw new Error(`${variable} is not set: run tests through ./yard test [filter]`)
  return value
}

/** A Postgres on which databases may be created and dropped. */
export const testDatabaseServer = () => required('TEST_DATABASE_URL')

export const testRedisUrl = () => required('TEST_REDIS_URL')

export const testDockerHost = () => required('TEST_DOCKER_HOST')
