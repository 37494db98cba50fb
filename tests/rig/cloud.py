"""`python -m tests.rig.cloud`: an AWS account on loopback for Karpenter, until standard input ends.

moto plays EC2, EKS, IAM and SSM; its Pricing answers with an error on which the controller ends, so a few lines
of our own play that. What an EKS cluster has before Karpenter comes is made here: tagged subnets and a security
group, the nodes' role, the cluster, and images behind the parameters of the EKS image aliases.
"""

import json
import logging
import os
import signal
import sys
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import FrameType
from typing import Any, Final, NoReturn

REGION: Final = "us-east-1"
CLUSTER: Final = "rig"
ROLE: Final = f"KarpenterNodeRole-{CLUSTER}"
DISCOVERY: Final = {"Key": "karpenter.sh/discovery", "Value": CLUSTER}
RELEASE: Final = "v20260810"
"""The image that examples pin, as in `al2023@v20260810`."""

FAMILIES: Final = ("standard", "nvidia", "neuron")
ARCHITECTURES: Final = ("x86_64", "arm64")


def main() -> int:
    """Serve; print one line of JSON with the addresses; give the exit code."""
    signal.signal(signal.SIGTERM, _leave)
    os.environ |= {
        "AWS_ACCESS_KEY_ID": "rig", "AWS_SECRET_ACCESS_KEY": "rig", "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true", "MOTO_EC2_LOAD_DEFAULT_AMIS": "true",
    }  # fmt: skip
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    minor = sys.argv[1]
    from moto.server import ThreadedMotoServer

    cloud = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    cloud.start()
    _, port = cloud.get_host_and_port()
    url = f"http://127.0.0.1:{port}"
    prices = ThreadingHTTPServer(("127.0.0.1", 0), _Prices)
    threading.Thread(target=prices.serve_forever, daemon=True).start()
    _furnish(url, minor)
    sys.stdout.write(json.dumps({"url": url, "prices": f"http://127.0.0.1:{prices.server_port}"}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    prices.shutdown()
    cloud.stop()
    return 0


class _Prices(BaseHTTPRequestHandler):
    """One price for one type: the controller wants an answer, and falls back on its own table for the rest."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", "0")))
        price = {
            "product": {"attributes": {"instanceType": "m5.large"}},
            "terms": {"OnDemand": {"a": {"priceDimensions": {"b": {"pricePerUnit": {"USD": "0.096"}}}}}},
        }
        body = json.dumps({"FormatVersion": "aws_v1", "PriceList": [json.dumps(price)]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/x-amz-json-1.1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing: standard error is for failures."""


def _furnish(url: str, minor: str) -> None:
    import boto3

    def client(service: str) -> Any:  # noqa: ANN401 - boto3 has no types
        return boto3.client(service, endpoint_url=url, region_name=REGION)

    ec2 = client("ec2")
    network = ec2.describe_vpcs()["Vpcs"][0]["VpcId"]
    subnets = [each["SubnetId"] for each in ec2.describe_subnets()["Subnets"]]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=network)["GroupId"]
    ec2.create_tags(Resources=[*subnets, group], Tags=[DISCOVERY])
    trust = {"Version": "2012-10-17", "Statement": []}
    role = client("iam").create_role(RoleName=ROLE, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"]
    client("eks").create_cluster(
        name=CLUSTER, roleArn=role, resourcesVpcConfig={"subnetIds": subnets}, version=minor
    )
    _images(ec2, minor)


def _images(ec2: Any, minor: str) -> None:  # noqa: ANN401 - boto3 has no types
    """Make an image for each architecture, and put them behind the parameters, which moto lets nobody write."""
    from moto.core.models import DEFAULT_ACCOUNT_ID
    from moto.ec2.models import ec2_backends
    from moto.ssm.models import Parameter, ssm_backends

    some = ec2.describe_images()["Images"][0]["ImageId"]
    instance = ec2.run_instances(ImageId=some, MinCount=1, MaxCount=1)["Instances"][0]["InstanceId"]
    parameters = ssm_backends[DEFAULT_ACCOUNT_ID][REGION]._parameters  # noqa: SLF001 - there is no other way
    for architecture in ARCHITECTURES:
        for family in FAMILIES:
            # Each its own: Karpenter keeps what an image is for by the image's id.
            image = ec2.create_image(InstanceId=instance, Name=f"eks-{architecture}-{family}")["ImageId"]
            ec2_backends[DEFAULT_ACCOUNT_ID][REGION].amis[image].architecture = architecture
            path = f"/aws/service/eks/optimized-ami/{minor}/amazon-linux-2023/{architecture}/{family}"
            pinned = f"amazon-eks-node-al2023-{architecture}-{family}-{minor}-{RELEASE}"
            for version in ("recommended", pinned):
                name = f"{path}/{version}/image_id"
                parameters[name].append(_parameter(Parameter, name, image))
    ec2.terminate_instances(InstanceIds=[instance])


def _parameter(kind: Any, name: str, image: str) -> Any:  # noqa: ANN401 - moto's own class
    return kind(
        account_id="123456789012", name=name, value=image, parameter_type="String", description="",
        allowed_pattern=None, keyid=None, last_modified_date=datetime.now(UTC), version=1, data_type="text",
    )  # fmt: skip


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(143)


if __name__ == "__main__":
    sys.exit(main())
