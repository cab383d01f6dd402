"""The files for Neo4j Browser."""

from msgspec import Struct

from librarian.base.fields import Namespace


class PackQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """The initial namespace of the guide; the service's default if unset."""

    namespace: Namespace | None = None
