"""Use cases of the shell: one public async function a file."""
