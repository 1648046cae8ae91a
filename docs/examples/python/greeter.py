"""A runner without an SDK: a micro service of nats-py. Usage: greeter.py <registration.json>"""

import asyncio
import json
import sys

import nats
import nats.micro
from nats.aio.client import RawCredentials
from nats.micro.request import Request, ServiceError

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
PURE = {
    "kind": "pure",
    "destructive": False,
    "effect_scope": "closed",
    "idempotency": "intrinsic",
    "reconciliation": "none",
}


async def greet(request: Request) -> None:
    name = json.loads(request.data).get("name")
    if not isinstance(name, str):
        raise ServiceError(code="400", description="name must be a string")
    await request.respond(json.dumps({"content": f"Hello, {name}, from Python"}).encode())


async def main(registration: dict) -> None:
    bus = registration["bus"]
    subjects = bus["subjects"]
    connection = await nats.connect(
        servers=bus["servers"],
        user_credentials=RawCredentials(bus["credentials"]),
        inbox_prefix=subjects["inbox_prefix"],
        max_reconnect_attempts=-1,
    )
    module = registration["executor"]["modules"][0]
    service = await nats.micro.add_service(connection, name=module, version="1.0.0", description="Greets people")
    await service.add_endpoint(
        name="greet",
        handler=greet,
        subject=f"{subjects['tool']}.greet",
        metadata={
            "description": "Greets somebody by name",
            "input_schema": json.dumps(SCHEMA),
            "effect_profile": json.dumps(PURE),
        },
    )
    info = json.dumps(service.info().to_dict()).encode()
    answer = await connection.request(f"{subjects['executor']}.announce", info, timeout=10)
    if answer.headers and "Nats-Service-Error" in answer.headers:
        raise SystemExit(answer.data.decode())
    print("serving greet", flush=True)
    await asyncio.Event().wait()


with open(sys.argv[1]) as file:
    asyncio.run(main(json.load(file)))
