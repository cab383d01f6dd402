"""The files for Neo4j Browser."""

from msgspec import Struct

from librarian.base.fields import Namespace


class PackQuery(Struct, forbid_unknown_fields=True, kw_only=True):
    """The namespace that the guide begins with; without one the service's default."""

    namespace: Namespace | None = None
